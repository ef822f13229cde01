"""Records reference values of scipy for the metrics tests.

python3 scripts/reference/record-scipy.py ../shared/data/predictions_qbench

Writes test/metrics/fixtures/scipy.json. Cases are small and exact in JSON; undefined values are null. From the
published predictions only correlations are recorded, of the difference of the two logits: it is exact in double
precision, so its many ties are the same in every language (those of a softmax depend on the last bit of exp).
"""

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

quantile_values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
out = {
    "scipy": scipy.__version__,
    "cases": cases,
    "logitDifferences": published,
    "normalQuantiles": [[p, float(stats.norm.ppf(p))] for p in (1e-6, 0.025, 0.3, 0.5, 0.95, 0.975, 0.9995)],
    "quantiles": {
        "values": quantile_values,
        "expected": [[p, float(numpy.quantile(quantile_values, p))] for p in (0, 0.025, 0.5, 0.77, 1)],
    },
}
path = pathlib.Path(__file__).parents[2] / "test/metrics/fixtures/scipy.json"
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(json.dumps(out, indent=1) + "\n")
print(f"wrote {path.name}: {len(cases)} cases, scipy {scipy.__version__}")
