"""PyTorch on the CPU as a contender of bench/engine.ts, which starts it and says when to go: one block of work for each line
that it sends, answered by one line of JSON.

  train         the engine's decoder and step: loss, gradients, clipping to norm 1, AdamW; written as one would for speed: one
                matrix for queries, keys and values, one for gate and up, fused attention, fused AdamW
  sample        the same decoder with a key-value cache that is written in place, one pass over the prompts, then a token at a
                time: draw, log-probability of what was drawn
  transformers  generate() of the transformers library on an equal Llama model, with its own cache

Run:  python torch_contender.py '{"task": "train", "width": 96, ...}'
"""
import json
import resource
import sys
import time

import torch
import torch.nn.functional as F

options = json.loads(sys.argv[1])
WIDTH, DEPTH, HEADS, FEED_FORWARD = (options[name] for name in ("width", "depth", "heads", "feedForwardWidth"))
VOCABULARY, ROWS, POSITIONS = (options[name] for name in ("vocabulary", "rows", "positions"))
NEW = options.get("newTokens", 0)
if options["task"] == "transformers":
    import transformers
torch.set_num_threads(options["threads"])
torch.manual_seed(0)
IDLE = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def matrix(inputs, outputs):
    return torch.nn.Parameter(torch.randn(inputs, outputs) * inputs**-0.5)


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Parameter(torch.randn(VOCABULARY, WIDTH) * WIDTH**-0.5)
        self.blocks = torch.nn.ModuleList(
            torch.nn.ParameterDict(dict(
                attention_norm=torch.nn.Parameter(torch.ones(WIDTH)), packed=matrix(WIDTH, 3 * WIDTH), output=matrix(WIDTH, WIDTH),
                feed_forward_norm=torch.nn.Parameter(torch.ones(WIDTH)), gate_up=matrix(WIDTH, 2 * FEED_FORWARD),
                down=matrix(FEED_FORWARD, WIDTH)))
            for _ in range(DEPTH))
        self.norm = torch.nn.Parameter(torch.ones(WIDTH))
        half = WIDTH // HEADS // 2
        angles = torch.outer(torch.arange(POSITIONS + NEW), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cosines", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sines", torch.cat([-angles.sin(), angles.sin()], -1))

    def rotate(self, x, past):
        half, end = x.shape[-1] // 2, past + x.shape[-2]
        return x * self.cosines[past:end] + torch.cat([x[..., half:], x[..., :half]], -1) * self.sines[past:end]

    def forward(self, tokens, cache=None, past=0):
        count = tokens.shape[1]
        x = F.embedding(tokens, self.embedding)
        for index, block in enumerate(self.blocks):
            packed = F.rms_norm(x, (WIDTH,), block["attention_norm"], 1e-6) @ block["packed"]
            q, k, v = packed.view(ROWS, count, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            q, k = self.rotate(q, past), self.rotate(k, past)
            if cache is not None:
                keys, values = cache[index]
                keys[:, :, past:past + count], values[:, :, past:past + count] = k, v
                k, v = keys[:, :, :past + count], values[:, :, :past + count]
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=count > 1)
            x = x + attended.transpose(1, 2).reshape(ROWS, count, WIDTH) @ block["output"]
            gate, up = (F.rms_norm(x, (WIDTH,), block["feed_forward_norm"], 1e-6) @ block["gate_up"]).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ block["down"]
        return F.rms_norm(x, (WIDTH,), self.norm, 1e-6) @ self.embedding.T


tokens = torch.randint(VOCABULARY, (ROWS, POSITIONS))


def trainer():
    model = Decoder()
    forward = torch.compile(model) if options.get("compile") else model
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    targets = torch.randint(VOCABULARY, (ROWS, POSITIONS))

    def step():
        loss = F.cross_entropy(forward(tokens).view(-1, VOCABULARY), targets.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        return loss.item()

    return model, step


def sampler():
    model = Decoder().eval()
    decode = torch.compile(model, dynamic=True) if options.get("compile") else model
    shape = (ROWS, HEADS, POSITIONS + NEW, WIDTH // HEADS)
    cache = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(DEPTH)]

    @torch.inference_mode()
    def rollout():
        drawn, log_probabilities, current, past = [], [], tokens, 0
        for _ in range(NEW):
            rows = decode(current, cache, past)[:, -1].log_softmax(-1)
            past += current.shape[1]
            current = torch.multinomial(rows.exp(), 1)
            drawn.append(current)
            log_probabilities.append(rows.gather(1, current))
        return torch.cat(drawn, 1), torch.cat(log_probabilities, 1)

    return model, rollout


def generator():
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=FEED_FORWARD, num_hidden_layers=DEPTH,
        num_attention_heads=HEADS, num_key_value_heads=HEADS, max_position_embeddings=POSITIONS + NEW, rms_norm_eps=1e-6,
        tie_word_embeddings=True, bos_token_id=None, eos_token_id=None, pad_token_id=0, attn_implementation="sdpa")).eval()
    # Padding and ends must not shorten the work.
    mask = torch.ones_like(tokens)

    @torch.inference_mode()
    def rollout():
        return model.generate(tokens, attention_mask=mask, max_new_tokens=NEW, min_new_tokens=NEW, do_sample=True, top_k=0,
                              temperature=1.0, use_cache=True)[:, POSITIONS:]

    return model, rollout


model, step = dict(train=trainer, sample=sampler, transformers=generator)[options["task"]]()
warm_up_seconds = []
while len(warm_up_seconds) < options["warmUp"] and sum(warm_up_seconds) < 10:
    start = time.perf_counter()
    result = step()
    warm_up_seconds.append(time.perf_counter() - start)
if options["task"] == "transformers":
    assert result.shape == (ROWS, NEW), result.shape
version = torch.__version__
if options["task"] == "transformers":
    version = f"{transformers.__version__} on PyTorch {version}"
print(json.dumps(dict(version=version, parameters=sum(p.numel() for p in model.parameters()), idleMebibytes=IDLE,
                      stepSeconds=warm_up_seconds[-1])), flush=True)
for line in sys.stdin:
    limit, seconds, processor_seconds = float(line), [], []
    while sum(seconds) < limit:
        start, processor_start = time.perf_counter(), time.process_time()
        step()
        seconds.append(time.perf_counter() - start)
        processor_seconds.append(time.process_time() - processor_start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(dict(seconds=seconds, processorSeconds=processor_seconds, peakMebibytes=peak)), flush=True)
