"""The same checkpoint behind transformers and FastAPI, for comparison: greedy answers, one request at a time.

    python scripts/bench-server/python_server.py <model folder> <port>

It does what such a server commonly does: decode with Pillow, the folder's own processor and template, generate.
"""

import io
import re
import sys
import threading

import torch
import uvicorn
from fastapi import FastAPI, Request
from PIL import Image
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor

folder, port = sys.argv[1], int(sys.argv[2])
tokenizer = AutoTokenizer.from_pretrained(folder)
processor = Qwen2VLImageProcessor.from_pretrained(folder)
model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
PROMPT = "Reason about the image quality, then score it."
lock = threading.Lock()
app = FastAPI()


def answer(data: bytes) -> str:
    image = Image.open(io.BytesIO(data)).convert("RGB")
    pixels = processor(images=[image], return_tensors="pt")
    count = int(pixels["image_grid_thw"].prod()) // processor.merge_size**2
    messages = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": PROMPT}]}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    text = text.replace("<|image_pad|>", "<|image_pad|>" * count)
    inputs = tokenizer(text, return_tensors="pt")
    with lock, torch.inference_mode():
        out = model.generate(**inputs, **pixels, max_new_tokens=96, do_sample=False)
    return tokenizer.decode(out[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


@app.post("/v1/score")
async def score(request: Request):
    from starlette.concurrency import run_in_threadpool

    text = await run_in_threadpool(answer, await request.body())
    found = re.search(r"<answer>([\d.]+)</answer>", text)
    return {"score": float(found[1]) if found else None, "text": text}


@app.get("/healthz")
async def healthz():
    return "ok"


uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
