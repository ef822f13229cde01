"""Prints what the tensorboard package reads from the event files of a run, as JSON: scalars and texts by name.

pip install tensorboard
python3 scripts/reference/check-tensorboard.py RUN/tensorboard
"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

read = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
read.Reload()
tags = read.Tags()
print(
    json.dumps(
        {
            "scalars": {tag: [[one.step, one.value] for one in read.Scalars(tag)] for tag in tags["scalars"]},
            "texts": {
                tag: [[one.step, one.tensor_proto.string_val[0].decode()] for one in read.Tensors(tag)]
                for tag in tags["tensors"]
            },
        },
        indent=1,
        ensure_ascii=False,
    )
)
