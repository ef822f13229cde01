"""Records event files as the tensorboard package writes and reads them, for the tests of src/formats/tensorboard.

pip install tensorboard
python3 scripts/reference/record-tensorboard.py

Writes test/formats/fixtures/tensorboard.json: for each event the bytes of its record, and what tensorboard keeps of a
run of two sessions, of which the second goes on from step 2 and the first ends in a torn record.
"""

import base64
import io
import json
import pathlib
import tempfile

import tensorboard.version
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def event(given):
    made = event_pb2.Event(wall_time=given["wallTime"], step=given["step"])
    if given["kind"] == "version":
        made.file_version = "brain.Event:2"
    elif given["kind"] == "start":
        made.session_log.status = event_pb2.SessionLog.START
    elif given["kind"] == "scalars":
        for name, value in given["values"].items():
            made.summary.value.add(tag=name, simple_value=float(value))
    else:
        plugin = summary_pb2.SummaryMetadata.PluginData(plugin_name="text")
        tensor = tensor_pb2.TensorProto(
            dtype=types_pb2.DT_STRING,
            string_val=[given["text"].encode()],
            tensor_shape=tensor_shape_pb2.TensorShapeProto(),
        )
        metadata = summary_pb2.SummaryMetadata(plugin_data=plugin)
        made.summary.value.add(tag=given["name"], metadata=metadata, tensor=tensor)
    return made


class Open(io.BytesIO):
    def close(self):
        pass


def record(given):
    target = Open()
    RecordWriter(target).write(event(given).SerializeToString())
    return target.getvalue()


def scalars(step, wall_time, values):
    return {"kind": "scalars", "step": step, "wallTime": wall_time, "values": values}


events = [
    {"kind": "version", "step": 0, "wallTime": 1700000000.25},
    {"kind": "start", "step": 0, "wallTime": 1700000000.5},
    {"kind": "start", "step": 3, "wallTime": 1700000100.5},
    scalars(1, 1700000001.0, {"loss": 0.1, "reward/mean": -2.5}),
    scalars(300, 1700000002.0, {"zero": 0.0}),
    scalars(5_000_000_000, 1700000003.0, {"kl": 1e-8, "größe": 3.0}),
    scalars(2, 1700000004.0, {"none": "nan", "large": "inf", "small": "-inf"}),
    {"kind": "text", "step": 7, "wallTime": 1700000005.0, "name": "events", "text": "entropy is **0.01** – low"},
    {"kind": "text", "step": 8, "wallTime": 1700000006.0, "name": "events", "text": "x" * 300},
]
sessions = [
    [
        {"kind": "version", "step": 0, "wallTime": 1.0},
        {"kind": "start", "step": 0, "wallTime": 1.0},
        *(scalars(step, 1.0 + step, {"loss": step / 8}) for step in (1, 2, 3, 4)),
    ],
    [
        {"kind": "version", "step": 0, "wallTime": 20.0},
        {"kind": "start", "step": 3, "wallTime": 20.0},
        *(scalars(step, 20.0 + step, {"loss": 10 + step / 8}) for step in (3, 5)),
    ],
]
with tempfile.TemporaryDirectory() as folder:
    for number, session in enumerate(sessions):
        torn = record(scalars(5, 6.0, {"loss": 1.0}))[:-7] if number == 0 else b""
        path = pathlib.Path(folder) / f"events.out.tfevents.{1700000000 + number}.host.1.0"
        path.write_bytes(b"".join(map(record, session)) + torn)
    read = EventAccumulator(folder)
    read.Reload()
    kept = [[one.step, one.value] for one in read.Scalars("loss")]

fixture = {
    "tensorboard": tensorboard.version.VERSION,
    "events": [{**given, "record": base64.b64encode(record(given)).decode()} for given in events],
    "resumed": {"sessions": sessions, "kept": kept},
}
target = pathlib.Path(__file__).parents[2] / "test/formats/fixtures/tensorboard.json"
target.parent.mkdir(exist_ok=True)
target.write_text(json.dumps(fixture, indent=1, ensure_ascii=False) + "\n")
print(kept)
