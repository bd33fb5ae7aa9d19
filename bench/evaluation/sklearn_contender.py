"""The peer of bench/evaluation.ts: scikit-learn on the same words and gains. Reads a file of JSON, prints a line of JSON.

For each way round: TF-IDF of words and pairs of words fitted to one half, and the other half's gains predicted.

Run: python sklearn_contender.py records.json neighbours|ridge
"""

import json
import sys
import time

import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

path, name = sys.argv[1:]
with open(path, encoding="utf8") as file:
    halves = json.load(file)


def model():
    if name == "ridge":
        return Ridge(alpha=1.0)
    return KNeighborsRegressor(5, metric="cosine", algorithm="brute", weights=lambda distances: 1 - distances)


def forecast(history, tested):
    # The words come apart at spaces already: ours are not those of its own pattern.
    vectoriser = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", lowercase=False)
    rows = vectoriser.fit_transform(history["texts"])
    return model().fit(rows, history["gains"]).predict(vectoriser.transform(tested["texts"])).tolist()


begun = time.perf_counter()
predictions = [forecast(halves[0], halves[1]), forecast(halves[1], halves[0])]
seconds = time.perf_counter() - begun
print(json.dumps({"seconds": seconds, "predictions": predictions, "version": sklearn.__version__}))
