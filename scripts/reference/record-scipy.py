"""Records reference values of scipy for the metrics tests.

python3 scripts/reference/record-scipy.py ../shared/data/predictions_qbench

Writes test/metrics/fixtures/scipy.json. Cases are small and exact in JSON; undefined values are null. From the
published predictions only correlations are recorded, of the difference of the two logits: it is exact in double
precision, so its many ties are the same in every language (those of a softmax depend on the last bit of exp).

Also writes numpy-exp.json beside it, where the processor has AVX-512: numpy's exp is then a vectorised one, which
is not correctly rounded everywhere, and the published metrics were computed with it.
"""

import decimal
import json
import math
import pathlib
import random
import sys
import warnings

import numpy
import scipy
from scipy import stats

warnings.simplefilter("ignore")
rng = random.Random(7)


def noisy(n, digits):
    x = [rng.uniform(1, 5) for _ in range(n)]
    y = [min(5.0, max(1.0, v + rng.gauss(0, 0.8))) for v in x]
    return [round(v, digits) for v in x], [round(v, digits) for v in y]


pairs = {
    "two pairs": ([1.0, 2.0], [3.0, 5.0]),
    "two pairs reversed": ([1.0, 2.0], [5.0, 3.0]),
    "three pairs, one tie": ([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]),
    "ties on both sides": ([1, 1, 2, 2, 3, 3, 3], [2, 2, 1, 3, 3, 3, 5]),
    "many ties (integers)": noisy(60, 0),
    "some ties (one digit)": noisy(80, 1),
    "no ties": noisy(50, 6),
    "negative and zero": ([-1.5, 0.0, -0.0, 2.0, -3.0], [0.0, -1.0, 4.0, 4.0, -2.0]),
    "large offset": ([1e9 + v for v in (1.0, 2.0, 4.0, 7.0)], [0.1, 0.4, 0.3, 0.9]),
    "huge values": ([1e200, 2e200, -3e200, 5e200], [1.0, 3.0, -2.0, 4.0]),
}


def number(value):
    return None if not math.isfinite(value) else float(value)


cases = []
for name, (x, y) in pairs.items():
    with numpy.errstate(all="ignore"):
        pearson = stats.pearsonr(x, y)
        interval = pearson.confidence_interval(0.9) if len(x) >= 4 else None
        cases.append(
            {
                "name": name,
                "x": x,
                "y": y,
                "srcc": number(stats.spearmanr(x, y).statistic),
                "plcc": number(pearson.statistic),
                "krcc": number(stats.kendalltau(x, y, variant="b").statistic),
                "averageRanks": [float(v) for v in stats.rankdata(x)],
                "pearsonInterval90": None if interval is None else [number(interval.low), number(interval.high)],
            }
        )

published = []
folder = pathlib.Path(sys.argv[1])
for row in json.loads((folder / "expected_metrics.json").read_text()):
    text = (folder / row["model"] / f"{row['dataset']}.json").read_text()
    rows = json.loads("[" + text.replace("}{", "},{") + "]")
    high, low = row["keys"]
    score = [r[high] - r[low] for r in rows]
    mos = [float(r["gt_score"]) for r in rows]  # one file writes strings
    published.append(
        {
            "model": row["model"],
            "dataset": row["dataset"],
            "srcc": float(stats.spearmanr(score, mos).statistic),
            "plcc": float(stats.pearsonr(score, mos).statistic),
            "krcc": float(stats.kendalltau(score, mos, variant="b").statistic),
        }
    )

proportions = [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (5, 1000), (123456, 1000000)]
t_points = [(0.0, 5), (0.5, 1), (-1.0767, 97), (2.5, 2), (12.0, 30), (3.0, 9997), (30.0, 9997), (1.5, 999997)]
f_points = [(1.0, 4), (1.3, 1), (1.3, 80), (6.0, 10), (1.05, 9999), (1.5, 9999), (1.004, 999999), (0.8, 50)]

quantile_values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
out = {
    "scipy": scipy.__version__,
    "cases": cases,
    "logitDifferences": published,
    "normalQuantiles": [[p, float(stats.norm.ppf(p))] for p in (1e-6, 0.025, 0.3, 0.5, 0.95, 0.975, 0.9995)],
    "wilson": [
        [k, n, level, *map(float, stats.binomtest(k, n).proportion_ci(level, method="wilson"))]
        for k, n in proportions
        for level in (0.9, 0.95)
    ],
    "normalTwoSided": [[z, float(2 * stats.norm.sf(abs(z)))] for z in (0.0, 0.1, -1.0, 1.99, 2.01, 3.5, 8.0, -30.0)],
    "studentTwoSided": [[t, df, float(2 * stats.t.sf(abs(t), df))] for t, df in t_points],
    "fUpperTail": [[f, df, float(stats.f.sf(f, df, df))] for f, df in f_points],
    "quantiles": {
        "values": quantile_values,
        "expected": [[p, float(numpy.quantile(quantile_values, p))] for p in (0, 0.025, 0.5, 0.77, 1)],
    },
}
path = pathlib.Path(__file__).parents[2] / "test/metrics/fixtures/scipy.json"
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(json.dumps(out, indent=1) + "\n")
print(f"wrote {path.name}: {len(cases)} cases, scipy {scipy.__version__}")

# In ulps, how far numpy's exp(v / 100) is from the correctly rounded one, for all half-precision v with
# 0.5 <= |v| < 32, by the bits of v.
decimal.getcontext().prec = 60
bits = numpy.arange(0x3800, 0x5000, dtype=numpy.uint16)
bits = numpy.concatenate([bits, bits | 0x8000])
arguments = bits.view(numpy.float16).astype(numpy.float64) / 100
exact = numpy.array([float(decimal.Decimal(v).exp()) for v in arguments.tolist()])
ulps = numpy.exp(arguments).view(numpy.int64) - exact.view(numpy.int64)
if not numpy._core._multiarray_umath.__cpu_features__["AVX512_SKX"]:
    sys.exit("left numpy-exp.json as it is: this processor lacks AVX-512")
if not set(ulps.tolist()) <= {-1, 0, 1}:
    sys.exit(f"numpy's exp is up to {abs(ulps).max()} ulps off, the fixture holds 1 at most")
rounding = {
    "numpy": numpy.__version__,
    "above": bits[ulps == 1].tolist(),
    "below": bits[ulps == -1].tolist(),
}
path = path.with_name("numpy-exp.json")
path.write_text("{\n" + ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in rounding.items()) + "\n}\n")
print(f"wrote {path.name}: {len(rounding['above'])} above, {len(rounding['below'])} below, numpy {numpy.__version__}")
