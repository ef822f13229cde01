"""Loads a model that q-ponder saved into transformers and compares what both say.

    pip install torch transformers "pillow>=13"
    npx tsx scripts/reference/save-model.ts models/qwen2.5-vl-mini FOLDER
    python scripts/reference/check-saved-model.py FOLDER

Token ids and greedy text must be the same, pixels within one of 255 levels, logits within 1e-4 of their root mean
square. Ends with exit code 1 otherwise.
"""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import (
    AutoConfig,
    AutoTokenizer,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2ForCausalLM,
    Qwen2VLForConditionalGeneration,
)
from transformers.models.qwen2_vl import Qwen2VLImageProcessorPil

FAMILIES = {
    "qwen2_5_vl": Qwen2_5_VLForConditionalGeneration,
    "qwen2_vl": Qwen2VLForConditionalGeneration,
    "qwen2": Qwen2ForCausalLM,
}


def main() -> int:
    folder = Path(sys.argv[1])
    said = json.loads((folder / "q-ponder.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(folder)
    kind = AutoConfig.from_pretrained(folder).model_type
    sees = kind != "qwen2"
    processor = Qwen2VLImageProcessorPil.from_pretrained(folder) if sees else None
    model, info = FAMILIES[kind].from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
    )
    model.eval()
    problems = [f"{key}: {value}" for key, value in info.items() if value]
    pad = model.config.image_token_id if sees else None
    for number, conversation in enumerate(said["conversations"]):
        text = tokenizer.apply_chat_template(conversation["messages"], tokenize=False, add_generation_prompt=True)
        pictures = [Image.open(folder / name) for name in conversation["pictures"]]
        seen, counts = {}, []
        if pictures:
            result = processor(pictures, return_tensors="pt")
            seen = {"pixel_values": result["pixel_values"], "image_grid_thw": result["image_grid_thw"]}
            counts = [int(grid.prod()) // processor.merge_size**2 for grid in result["image_grid_thw"]]
        ids: list[int] = []
        for token in tokenizer(text, add_special_tokens=False)["input_ids"]:
            ids += [token] * (counts.pop(0) if token == pad else 1)
        if ids != conversation["tokenIds"]:
            problems.append(f"conversation {number}: token ids differ")
            continue
        tokens = torch.tensor([ids])
        inputs = {
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            **({"mm_token_type_ids": (tokens == pad).int()} if sees else {}),
            **seen,
        }
        with torch.no_grad():
            logits = model(**inputs).logits[0].numpy()
            made = model.generate(
                **inputs,
                generation_config=None,
                do_sample=False,
                repetition_penalty=1.0,
                max_new_tokens=said["newTokens"],
                suppress_tokens=said["banned"],
                eos_token_id=said["ends"],
                pad_token_id=said["ends"][-1],
            )[0, len(ids) :].tolist()
        own = np.frombuffer(base64.b64decode(conversation["logits"]), "<f4").reshape(logits.shape)
        relative = float(np.abs(own - logits).max() / np.sqrt((logits**2).mean()))
        greedy = conversation["greedy"]
        words = tokenizer.decode(made, skip_special_tokens=True)
        print(f"conversation {number}: {len(ids)} tokens, logits differ by {relative:.2e} of their root mean square")
        print(f"  {words!r}")
        if not relative < 1e-4:
            problems.append(f"conversation {number}: logits differ by {relative}")
        if made != greedy["tokenIds"] or words != greedy["text"]:
            problems.append(f"conversation {number}: greedy text differs, {greedy['text']!r}")
    for problem in problems:
        print("PROBLEM", problem)
    print("transformers says the same" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
