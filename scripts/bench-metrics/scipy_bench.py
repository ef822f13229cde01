"""The correlations of the bench by scipy: scipy_bench.py FILE PAIRS RESAMPLED RESAMPLES.

FILE holds PAIRS scores and then as many targets, as little-endian doubles; the bootstrap takes the first RESAMPLED
of them. Each line of standard input names a task; the answer is a line "ANSWER {...}" with milliseconds, processor
milliseconds and the values.
"""

import json
import sys
import time

import numpy
import scipy
from scipy import stats

path, pairs, resampled, resamples = sys.argv[1], *map(int, sys.argv[2:])
scores, targets = numpy.fromfile(path, dtype="<f8").reshape(2, pairs)
few = scores[:resampled], targets[:resampled]


def correlations():
    return [
        stats.spearmanr(scores, targets).statistic,
        stats.pearsonr(scores, targets).statistic,
        stats.kendalltau(scores, targets).statistic,
    ]


def both(x, y):
    return numpy.array([stats.spearmanr(x, y).statistic, stats.pearsonr(x, y).statistic])


def bootstrap_scipy():
    interval = stats.bootstrap(
        few, both, n_resamples=resamples, vectorized=False, paired=True, method="percentile", rng=1
    ).confidence_interval
    return [interval.low[0], interval.high[0], interval.low[1], interval.high[1]]


def bootstrap_numpy():
    """Without the p-values and checks that scipy's functions come with."""
    x, y = few
    rng = numpy.random.default_rng(1)
    values = numpy.empty((resamples, 2))
    for i in range(resamples):
        drawn = rng.integers(0, resampled, resampled)
        a, b = x[drawn], y[drawn]
        values[i, 0] = numpy.corrcoef(stats.rankdata(a), stats.rankdata(b))[0, 1]
        values[i, 1] = numpy.corrcoef(a, b)[0, 1]
    return numpy.quantile(values, (0.025, 0.975), axis=0).T.ravel().tolist()


TASKS = {"correlations": correlations, "bootstrap-scipy": bootstrap_scipy, "bootstrap-numpy": bootstrap_numpy}

print(f"READY Python {sys.version.split()[0]}, numpy {numpy.__version__}, scipy {scipy.__version__}", flush=True)
for line in sys.stdin:
    begin, used = time.perf_counter(), time.process_time()
    values = [float(value) for value in TASKS[line.strip()]()]
    answer = {
        "milliseconds": 1000 * (time.perf_counter() - begin),
        "processorMilliseconds": 1000 * (time.process_time() - used),
        "values": values,
    }
    print("ANSWER " + json.dumps(answer), flush=True)
