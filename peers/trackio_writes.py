"""Writes a project with Trackio's own API, and prints what Trackio reads back from it.

Run: TRACKIO_DIR=folder python trackio_writes.py
"""

import contextlib
import io
import json

import trackio

given = [
    {"lr": 0.1, "optimizer": {"name": "adam", "betas": [0.9, 0.99]}, "amp": True},
    {"lr": 0.01, "optimizer": {"name": "adam", "betas": [0.9, 0.99]}, "amp": True},
    {"lr": 0.001, "optimizer": {"name": "größer", "betas": [0.8, 0.95]}, "amp": False},
]
# It talks; only the last line is ours.
with contextlib.redirect_stdout(io.StringIO()):
    for number, configuration in enumerate(given):
        trackio.init(project="mnist", name=f"run {number}", config=configuration)
        for step in range(4):
            trackio.log({"val_loss": 1 / (step + 3) + configuration["lr"] / 7, "train/loss": 2 / (step + 1)})
        # Numbers that JSON has no words for.
        trackio.log({"val_loss": 0.25 + configuration["lr"] / 3, "worst": float("nan"), "ratio": float("inf")})
        trackio.finish()
    trackio.init(project="mnist", name="silent", config={"lr": 1})
    trackio.finish()
    told = []
    for run in trackio.Api().runs("mnist"):
        logged = trackio.SQLiteStorage.get_logs("mnist", run.name)
        told.append(
            {
                "name": run.name,
                "configuration": {key: value for key, value in run.config.items() if not key.startswith("_")},
                "losses": [entry["val_loss"] for entry in logged if "val_loss" in entry],
            }
        )
print(json.dumps(told))
