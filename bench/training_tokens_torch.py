"""Tokens per second of one training step in PyTorch on the CPU: the peer of training-tokens.ts, which starts it.

The decoder, batch and step are the engine's: rotary positions, RMS norm before each branch, SwiGLU, tied embeddings; loss,
gradients, clipping to norm 1, AdamW. Written as one would for speed: one matrix for queries, keys and values, one for gate and
up, fused attention, fused AdamW.

Run:  python training_tokens_torch.py '{"width": 96, "depth": 3, ...}'   -> one line of JSON
"""
import json
import sys
import time

import torch
import torch.nn.functional as F

options = json.loads(sys.argv[1])
WIDTH, DEPTH, HEADS, FEED_FORWARD = (options[name] for name in ("width", "depth", "heads", "feedForwardWidth"))
VOCABULARY, ROWS, SEQUENCE = (options[name] for name in ("vocabulary", "rows", "sequence"))
torch.set_num_threads(options["threads"])
torch.manual_seed(0)


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
        angles = torch.outer(torch.arange(SEQUENCE), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cosines", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sines", torch.cat([-angles.sin(), angles.sin()], -1))

    def rotate(self, x):
        half = x.shape[-1] // 2
        return x * self.cosines + torch.cat([x[..., half:], x[..., :half]], -1) * self.sines

    def forward(self, tokens):
        x = F.embedding(tokens, self.embedding)
        for block in self.blocks:
            packed = F.rms_norm(x, (WIDTH,), block["attention_norm"], 1e-6) @ block["packed"]
            q, k, v = packed.view(ROWS, SEQUENCE, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            attended = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
            x = x + attended.transpose(1, 2).reshape(ROWS, SEQUENCE, WIDTH) @ block["output"]
            gate, up = (F.rms_norm(x, (WIDTH,), block["feed_forward_norm"], 1e-6) @ block["gate_up"]).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ block["down"]
        return F.rms_norm(x, (WIDTH,), self.norm, 1e-6) @ self.embedding.T


model = Decoder()
forward = torch.compile(model) if options.get("compile") else model
optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
tokens = torch.randint(VOCABULARY, (ROWS, SEQUENCE))
targets = torch.randint(VOCABULARY, (ROWS, SEQUENCE))
seconds, processor_seconds = [], []
for step in range(options["steps"] + 3):
    start, processor_start = time.perf_counter(), time.process_time()
    loss = F.cross_entropy(forward(tokens).view(-1, VOCABULARY), targets.view(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    loss.item()
    if step >= 3:
        seconds.append(time.perf_counter() - start)
        processor_seconds.append(time.process_time() - processor_start)
print(json.dumps(dict(version=torch.__version__, parameters=sum(p.numel() for p in model.parameters()),
                      seconds=seconds, processorSeconds=processor_seconds)))
