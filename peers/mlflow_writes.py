"""Writes an experiment with MLflow's own API into a store, and prints what MLflow reads back from it.

Run: python mlflow_writes.py sqlite:///mlflow.db | file:///folder/mlruns
"""

import json
import os
import sys

os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
import mlflow
from mlflow.entities import ViewType

mlflow.set_tracking_uri(sys.argv[1])
experiment = mlflow.set_experiment("sweep of größe")
given = {}


def remember(run, parameters):
    given[run.info.run_id] = parameters
    mlflow.log_params(parameters)


for number, rate in enumerate((0.1, 0.01, 0.001)):
    with mlflow.start_run(run_name=f"rate {rate}", description=f"Learn at {rate}.", tags={"team": "α"}) as run:
        remember(run, {"lr": rate, "optimizer/name": "adam", "layers": [1, 2], "amp": True, "drop": None})
        if number == 0:
            mlflow.set_tag("baseline", "true")
        for step in range(4):
            mlflow.log_metric("val/loss", 1 / (step + 3) + rate / 7, step=step)
        mlflow.log_metric("inf", float("inf"))

try:
    with mlflow.start_run(run_name="breaks") as run:
        remember(run, {"lr": 5.0, "optimizer/name": "adam", "layers": [1, 2], "amp": True, "drop": None})
        raise RuntimeError("out of memory")
except RuntimeError:
    pass

run = mlflow.start_run(run_name="killed")
remember(run, {"lr": 7.0, "optimizer/name": "sgd", "layers": [1, 2], "amp": True, "drop": None})
mlflow.end_run("KILLED")

with mlflow.start_run(run_name="diverges") as run:
    remember(run, {"lr": 9.0, "optimizer/name": "adam", "layers": [1, 2], "amp": True, "drop": None})
    mlflow.log_metric("val/loss", float("nan"))

with mlflow.start_run(run_name="sweep"):
    mlflow.log_param("seed_of_sweep", 3)
    for width in (16, 32):
        with mlflow.start_run(run_name=f"width {width}", nested=True) as run:
            mlflow.log_param("width", width)
            given[run.info.run_id] = {"width": width, "seed_of_sweep": 3}
            mlflow.log_metric("val/loss", 1 / width)

with mlflow.start_run(run_name="deleted") as run:
    mlflow.log_param("lr", 1)
    mlflow.log_metric("val/loss", 0)
mlflow.delete_run(run.info.run_id)
unfinished = mlflow.MlflowClient().create_run(experiment.experiment_id, run_name="runs still")

client = mlflow.MlflowClient()
runs = client.search_runs([experiment.experiment_id], run_view_type=ViewType.ALL)
print(
    json.dumps(
        [
            {
                "id": run.info.run_id,
                "name": run.info.run_name,
                "status": run.info.status,
                "configuration": given.get(run.info.run_id),
                "loss": run.data.metrics.get("val/loss"),
                "lowest": min((m.value for m in client.get_metric_history(run.info.run_id, "val/loss")), default=None),
            }
            for run in runs
        ]
    ).replace("NaN", "null")
)
