"""Runs the files of `q-ponder model export` in Python, compares with what onnxruntime-node made of them, and looks
where weights lie that are not inside: aligned, in bounds, none over another.

    pip install onnxruntime onnx numpy
    node -e "import('./examples/onnx/score.mjs').then(async ({ open }) => { const { facts, answer } = await open('FOLDER');
      const { width, height } = facts.picture; const pixels = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 7 + (i >> 5)) % 256);
      const { tokens } = await answer(pixels); require('fs').writeFileSync('answer.json', JSON.stringify({ pixels: [...pixels], tokens })) })"
    python scripts/reference/check-onnx.py FOLDER answer.json
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

folder = Path(sys.argv[1])
given = json.loads(Path(sys.argv[2]).read_text())
facts = json.loads((folder / "export.json").read_text())
picture = facts["picture"]
patch, merge, frames = picture["patchSize"], picture["mergeSize"], picture["temporalPatchSize"]
w, h = picture["width"], picture["height"]

pixels = np.array(given["pixels"], dtype=np.float32).reshape(h, w, 3) / 255
pixels = (pixels - np.array(picture["imageMean"], np.float32)) / np.array(picture["imageStd"], np.float32)
# [block row, merge, patch, block column, merge, patch, channel] to blocks of patches, values by channel, frame, y, x.
cut = pixels.reshape(h // patch // merge, merge, patch, w // patch // merge, merge, patch, 3)
rows = cut.transpose(0, 3, 1, 4, 6, 2, 5).reshape(-1, 3, 1, patch * patch)
values = np.repeat(rows, frames, axis=2).reshape(picture["pixelValues"]).astype(np.float32)

prompt = ort.InferenceSession(folder / "prompt.onnx", providers=["CPUExecutionProvider"])
token = ort.InferenceSession(folder / "token.onnx", providers=["CPUExecutionProvider"])
names = [output.name for output in token.get_outputs()]
results = dict(zip([output.name for output in prompt.get_outputs()], prompt.run(None, {"pixel_values": values})))
tokens: list[int] = []
while len(tokens) < facts["maxNewTokens"]:
    logits = results["logits"][0].copy()
    logits[facts["neverSampledTokenIds"]] = -np.inf
    tokens.append(int(logits.argmax()))
    if tokens[-1] in facts["endTokenIds"]:
        break
    feeds = {name.replace("present", "past"): value for name, value in results.items() if name.startswith("present")}
    feeds["token"] = np.array(tokens[-1:], np.int32)
    feeds["position"] = np.array([facts["firstPosition"] + len(tokens) - 1], np.int32)
    results = dict(zip(names, token.run(None, feeds)))

ALIGNMENT = 4096
DTYPE_BYTES = {onnx.TensorProto.FLOAT: 4, onnx.TensorProto.INT32: 4, onnx.TensorProto.INT64: 8, onnx.TensorProto.BOOL: 1}


def external_places(name: str) -> set[tuple[str, int, int]]:
    places = set()
    for tensor in onnx.load(folder / name, load_external_data=False).graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        keys = {entry.key: entry.value for entry in tensor.external_data}
        offset, length = int(keys["offset"]), int(keys["length"])
        assert offset % ALIGNMENT == 0, (tensor.name, offset)
        assert length == DTYPE_BYTES[tensor.data_type] * int(np.prod(tensor.dims)), (tensor.name, length)
        assert offset + length <= (folder / keys["location"]).stat().st_size, (tensor.name, offset, length)
        places.add((keys["location"], offset, length))
    return places


both = [external_places(name) for name in ("prompt.onnx", "token.onnx")]
ordered = sorted(both[0] | both[1])
for (file, offset, length), (next_file, next_offset, _) in zip(ordered, ordered[1:]):
    assert file != next_file or offset + length <= next_offset, (file, offset, next_offset)

report = {"tokens": len(tokens), "equal": tokens == given["tokens"]}
report["external"] = {"tensors": len(ordered), "of both": len(both[0] & both[1])}
for name in ("prompt.onnx", "token.onnx"):
    try:
        onnx.checker.check_model(folder / name)
        report[name] = "sound"
    except onnx.checker.ValidationError as error:
        report[name] = str(error).splitlines()[0]
print(json.dumps(report))
