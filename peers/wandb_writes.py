"""Writes runs with W&B's own API, offline, and prints what W&B says of each before it ends.

Run: python wandb_writes.py folder
"""

import json
import math
import os
import sys

os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_SILENT"] = "true"
import wandb



def flat(value, path=""):
    """The numbers of a summary by their dotted path."""
    if not hasattr(type(value), "keys"):
        return [(path, float(value))]
    return [pair for key in value.keys() for pair in flat(value[key], f"{path}.{key}" if path else key)]


told = []
for number, rate in enumerate((0.1, 0.01, 0.001)):
    configuration = {
        "lr": rate,
        "model": {"depth": 2, "betas": [0.9, 0.99]},
        "name": 'a "quoted" größe: yes\nand a second line',
        "amp": number == 1,
        "nothing": None,
    }
    run = wandb.init(
        project="proj x",
        dir=sys.argv[1],
        config=configuration,
        notes=f"Learn at {rate}.",
        tags=["α", "baseline"] if number == 0 else ["α"],
        name=f"run {number}",
    )
    run.define_metric("val_loss", summary="min")
    losses = [1 / (step + 3) + rate / 7 for step in range(4)] + [0.5]
    for step, loss in enumerate(losses):
        run.log({"val_loss": loss, "train/loss": 2 / (step + 1), "nested": {"a": step}})
    run.log({"not_finite": float("nan")})
    run.config.update({"added_later": number})
    run.summary["best"] = 3 - number
    told.append(
        {
            "id": run.id,
            "failed": number == 2,
            "configuration": run.config.as_dict(),
            "last": losses[-1],
            "summary": {
                key: value for key, value in flat(run.summary) if key[0] != "_" and math.isfinite(value)
            },
        }
    )
    run.finish(exit_code=1 if number == 2 else 0)
print(json.dumps(told))
