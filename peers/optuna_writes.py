"""Writes two studies with Optuna's own API into one storage, and prints what Optuna reads back from it.

Run: python optuna_writes.py sqlite:///study.db | journal:study.log
"""

import json
import math
import sys

import optuna
from optuna.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.ERROR)
where = sys.argv[1]
if where.startswith("journal:"):
    backend = optuna.storages.journal.JournalFileBackend(where.removeprefix("journal:"))
    storage = optuna.storages.JournalStorage(backend)
else:
    storage = optuna.storages.RDBStorage(where)


def accuracy(trial):
    rate = trial.suggest_float("optimizer.lr", 1e-5, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 4)
    kind = trial.suggest_categorical("optimizer.name", ["adam", "sgd", None, 3, 2.5, True])
    trial.set_user_attr("train_accuracy", rate / 3)
    trial.set_user_attr("comment", "größer ↗")
    if trial.number == 2:
        raise RuntimeError("out of memory")
    for step in range(3):
        trial.report(step / 10 + rate, step)
        if trial.number == 4 and step == 1:
            raise optuna.TrialPruned()
    trial.set_user_attr("limits", [0.5 if trial.number % 3 == 0 else -0.5])
    return layers / 7 - math.log10(rate) / 11 + (0.1 if kind == "adam" else 0)


def limits(trial):
    return trial.user_attrs.get("limits", (0,))


first = optuna.create_study(
    study_name="mnist",
    storage=storage,
    direction="maximize",
    sampler=optuna.samplers.TPESampler(seed=1, constraints_func=limits),
)
first.set_user_attr("data", "mnist")
first.enqueue_trial({"optimizer.lr": 1e-3, "layers": 2, "optimizer.name": "adam"})
first.optimize(accuracy, n_trials=14, catch=(RuntimeError,))
# One that is still running and one that waits: both have no result yet.
first.ask()
first.enqueue_trial({"layers": 1})

second = optuna.create_study(study_name="size and speed", storage=storage, directions=["minimize", "maximize"])
second.set_metric_names(["size", "speed"])
second.optimize(
    lambda trial: (trial.suggest_float("width", 0.1, 9) ** 2, 1 / trial.suggest_float("width", 0.1, 9)), n_trials=6
)


def told(trial):
    breaks = any(value > 0 for value in trial.system_attrs.get("constraints", ()))
    return {
        "number": trial.number,
        "state": trial.state.name,
        "violated": trial.state == TrialState.COMPLETE and breaks,
        "configuration": trial.params,
        "values": trial.values,
    }


studies = [optuna.load_study(study_name=name, storage=storage) for name in ("mnist", "size and speed")]
print(json.dumps({study.study_name: [told(trial) for trial in study.trials] for study in studies}))
