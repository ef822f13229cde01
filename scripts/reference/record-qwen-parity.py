"""Records what transformers computes for small random models of the families that are read (Qwen2.5-VL, Qwen2-VL and
the language model Qwen2.5 alone), for test/model/qwen-parity-models.test.ts.

    pip install torch transformers pillow
    python scripts/reference/record-qwen-parity.py test/model/fixtures/qwen-parity

Weights and pictures follow from their names (`numbers`, the same in test/model/parity-reference.ts), so a file
holds only the configuration, the token ids and the results: positions, image features, logits, loss, gradients,
and greedy text with its log-probabilities. Everything is float32.
"""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import (
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
)
from transformers.models.qwen2_vl import Qwen2VLImageProcessorPil

END_OF_TEXT, TURN_END, IMAGE, VIDEO, VISION_START, VISION_END, VOCABULARY = 56, 57, 60, 61, 62, 63, 64
# What q-ponder's generation never draws: special tokens other than the ends.
BANNED = [58, 59, IMAGE, VIDEO, VISION_START, VISION_END]
NEW_TOKENS = 24
GRADIENT_SAMPLES = 400

FAMILIES = {
    "qwen2_5_vl": (Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration),
    "qwen2_vl": (Qwen2VLConfig, Qwen2VLForConditionalGeneration),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
}


def text(hidden, layers, heads, shared, section, tied, **more):
    return {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": shared,
        **({} if section is None else {"rope_scaling": {"type": "mrope", "mrope_section": section}}),
        "tie_word_embeddings": tied,
        "intermediate_size": 40,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        **more,
    }


def vision(hidden, depth, heads, patch, window, full):
    return {
        "depth": depth,
        "hidden_size": hidden,
        "num_heads": heads,
        "intermediate_size": 36,
        "patch_size": patch,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": window,
        "fullatt_block_indexes": full,
    }


def plain_vision(width, depth, heads, patch, ratio):
    """The tower of Qwen2-VL, whose `hidden_size` is the width of the language model."""
    return {
        "depth": depth,
        "embed_dim": width,
        "num_heads": heads,
        "mlp_ratio": ratio,
        "patch_size": patch,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }


# A sequence is a list of text token ids and ("image", index); what follows "answer" is trained on and generated.
MODELS = {
    # Merged grids of 3x5 and 5x1 under windows of 2x2: partial windows on both axes. A batch of unequal lengths
    # with and without a picture, two query heads to a key head, one full block among windowed ones.
    "odd-grids": {
        "text": text(32, 2, 4, 2, [1, 1, 2], False),
        "vision": vision(32, 3, 2, 4, 16, [1]),
        "images": [(24, 40), (40, 8)],
        "sequences": [
            [5, 6, ("image", 0), 7, 8, 9, 10, "answer", 11, 12, 13, TURN_END],
            [14, ("image", 1), 15, "answer", 16, TURN_END],
            [17, 18, 19, 20, 21, "answer", 22, 23, 24, 25, 26, TURN_END],
        ],
    },
    # Three pictures in one prompt, two of one grid, windows of 3x3, one key head for all, full blocks at both ends.
    "three-images": {
        "text": text(24, 3, 3, 1, [2, 1, 1], True),
        "vision": vision(24, 4, 3, 4, 24, [0, 3]),
        "images": [(32, 24), (16, 56), (32, 24)],
        "sequences": [
            [1, ("image", 0), 2, 3, ("image", 1), ("image", 2), 4, "answer", 5, 6, 7, 8, TURN_END],
            [9, 10, 11, ("image", 1), "answer", 12, TURN_END],
        ],
    },
    # Text alone, other constants, three pairs of heads.
    "text-only": {
        "text": text(48, 2, 6, 3, [2, 1, 1], True, rope_theta=10000.0, rms_norm_eps=1e-5),
        "vision": vision(32, 1, 2, 4, 16, [0]),
        "images": [],
        "sequences": [
            [1, 2, 3, "answer", 4, 5, TURN_END],
            [6, "answer", 7, TURN_END],
            [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "answer", 18, 19, 20, 21, TURN_END],
        ],
    },
    # The released patch and window sizes, no full block at all, every query head with its own key head.
    "released-sizes": {
        "text": text(32, 2, 2, 2, [2, 3, 3], False),
        "vision": vision(32, 2, 4, 14, 112, []),
        "images": [(140, 252), (112, 112)],
        "sequences": [
            [30, ("image", 0), 31, "answer", 32, 33, 34, TURN_END],
            [35, 36, ("image", 1), 37, 38, "answer", 39, TURN_END],
        ],
    },
    # Every block full, a picture of a single image token, a sliver, and one that must be resized.
    "full-attention": {
        "text": text(32, 1, 4, 2, [1, 1, 2], True),
        "vision": vision(16, 2, 2, 4, 8, [0, 1]),
        "images": [(8, 8), (8, 72), (21, 50)],
        "sequences": [
            [40, ("image", 0), 41, "answer", 42, 43, TURN_END],
            [44, 45, ("image", 1), ("image", 2), 46, "answer", 47, TURN_END],
        ],
    },
    # A picture that is almost the mean colour: its patches are so small that the epsilon of the tower's norm counts.
    "faint-picture": {
        "text": text(16, 1, 2, 1, [1, 1, 2], True),
        "vision": vision(16, 2, 2, 4, 8, [1]),
        "images": [(24, 16, "faint")],
        "sequences": [[40, ("image", 0), 41, "answer", 42, 43, TURN_END]],
    },
    # Qwen2-VL: odd merged grids, two pictures in one prompt, a faint one, and a prompt of text alone.
    "qwen2-vl": {
        "type": "qwen2_vl",
        "text": text(32, 2, 4, 2, [1, 1, 2], False),
        "vision": plain_vision(24, 3, 3, 4, 2),
        "images": [(24, 40), (40, 8), (24, 40, "faint")],
        "sequences": [
            [5, 6, ("image", 0), 7, 8, 9, 10, "answer", 11, 12, 13, TURN_END],
            [14, ("image", 1), 15, ("image", 2), 16, "answer", 17, TURN_END],
            [18, 19, 20, 21, "answer", 22, 23, 24, 25, 26, TURN_END],
        ],
    },
    # The released ratio and patch size, a tied head.
    "qwen2-vl-tied": {
        "type": "qwen2_vl",
        "text": text(24, 2, 3, 1, [2, 1, 1], True),
        "vision": plain_vision(16, 2, 2, 14, 4),
        "images": [(84, 140)],
        "sequences": [
            [30, ("image", 0), 31, "answer", 32, 33, 34, TURN_END],
            [35, 36, "answer", 39, TURN_END],
        ],
    },
    # The language model alone: ordinary rotary positions, a head of its own, few key heads.
    "qwen2": {
        "type": "qwen2",
        "text": text(32, 3, 4, 2, None, False),
        "vision": None,
        "images": [],
        "sequences": [
            [1, 2, 3, "answer", 4, 5, TURN_END],
            [6, "answer", 7, TURN_END],
            [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "answer", 18, 19, 20, 21, TURN_END],
        ],
    },
    # A tied head, other constants, ids of the pictures' tokens as any other.
    "qwen2-tied": {
        "type": "qwen2",
        "text": text(48, 2, 6, 1, None, True, rope_theta=10000.0, rms_norm_eps=1e-5),
        "vision": None,
        "images": [],
        "sequences": [
            [IMAGE, 2, VISION_START, IMAGE, IMAGE, 3, "answer", 4, 5, TURN_END],
            [6, VIDEO, "answer", 7, 8, TURN_END],
        ],
    },
}


def numbers(name: str, count: int) -> np.ndarray:
    """Whole numbers from -128 to 127: MurmurHash3's mixing of the position, started by FNV-1a of the name."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 & 0xFFFFFFFF
    h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(seed)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return ((h ^ (h >> np.uint32(16))) >> np.uint32(24)).astype(np.int32) - 128


def weight(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    values = torch.from_numpy(numbers(name, int(np.prod(shape))).astype(np.float32)).reshape(shape)
    if len(shape) == 1 and name.endswith(".weight"):
        return 1 + values / 512
    return values / (128 if "embed_tokens" in name or "lm_head" in name else 512)


def released(name: str) -> str:
    return name.replace("model.visual.", "visual.").replace("model.language_model.", "model.")


# Close to the mean that the processor takes off.
MEAN_COLOUR = [123, 117, 104]


def picture(model: str, index: int, height: int, width: int, faint: str = "") -> Image.Image:
    values = numbers(f"{model} image {index}", height * width * 3)
    values = np.tile(MEAN_COLOUR, height * width) + (values & 1) if faint else values + 128
    return Image.fromarray(values.astype(np.uint8).reshape(height, width, 3))


def packed(values: torch.Tensor) -> str:
    return base64.b64encode(values.detach().float().contiguous().numpy().astype("<f4").tobytes()).decode()


def configuration(kind: str, spec: dict) -> dict:
    common = {
        "architectures": [FAMILIES[kind][1].__name__],
        "model_type": kind,
        "max_position_embeddings": 512,
        "vocab_size": VOCABULARY,
        "bos_token_id": END_OF_TEXT,
        "eos_token_id": TURN_END,
        "pad_token_id": END_OF_TEXT,
    }
    if kind == "qwen2":
        return {**common, **spec["text"]}
    width = "out_hidden_size" if kind == "qwen2_5_vl" else "hidden_size"
    return {
        **common,
        "vision_start_token_id": VISION_START,
        "vision_end_token_id": VISION_END,
        "image_token_id": IMAGE,
        "video_token_id": VIDEO,
        **spec["text"],
        "vision_config": {**spec["vision"], width: spec["text"]["hidden_size"]},
    }


def record(name: str, spec: dict) -> dict:
    kind = spec.get("type", "qwen2_5_vl")
    sees = spec["vision"] is not None
    config = configuration(kind, spec)
    config_class, model_class = FAMILIES[kind]
    patch = spec["vision"]["patch_size"] if sees else 4
    processor_config = {
        "patch_size": patch,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "min_pixels": (2 * patch) ** 2,
        "max_pixels": 65536,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    }
    library_config = config_class(**json.loads(json.dumps(config)))
    library_config._attn_implementation = "eager"
    model = model_class(library_config).float().eval()
    with torch.no_grad():
        for full_name, parameter in model.named_parameters():
            parameter.copy_(weight(released(full_name), tuple(parameter.shape)))

    processor = Qwen2VLImageProcessorPil(**processor_config)
    pixels, grids = [], []
    for index, size in enumerate(spec["images"]):
        processed = processor([picture(name, index, *size)], return_tensors="pt")
        pixels.append(processed["pixel_values"])
        grids.append(processed["image_grid_thw"])

    sequences = []
    for parts in spec["sequences"]:
        ids, images, answer = [], [], 0
        for part in parts:
            if part == "answer":
                answer = len(ids)
            elif isinstance(part, tuple):
                images.append(part[1])
                ids += [VISION_START, *[IMAGE] * (int(grids[part[1]].prod()) // 4), VISION_END]
            else:
                ids.append(part)
        sequences.append({"tokenIds": ids, "images": images, "answer": answer})

    length = max(len(s["tokenIds"]) for s in sequences)
    ids = torch.tensor([s["tokenIds"] + [END_OF_TEXT] * (length - len(s["tokenIds"])) for s in sequences])
    mask = torch.tensor([[1] * len(s["tokenIds"]) + [0] * (length - len(s["tokenIds"])) for s in sequences])
    labels = ids.clone()
    for row, s in enumerate(sequences):
        labels[row, : s["answer"]] = -100
        labels[row, len(s["tokenIds"]) :] = -100
    used = [i for s in sequences for i in s["images"]]
    seen = {}
    if used:
        seen = {
            "pixel_values": torch.cat([pixels[i] for i in used]),
            "image_grid_thw": torch.cat([grids[i] for i in used]),
        }
    kinds = (ids == IMAGE).int()
    where = {"mm_token_type_ids": kinds} if sees else {}
    output = model(input_ids=ids, attention_mask=mask, labels=labels, **where, **seen)
    output.loss.backward()
    # A second time from a picture alone, so that a wrong feature is told from a wrong text model.
    with torch.no_grad():
        features = [model.model.get_image_features(p, g).pooler_output[0] for p, g in zip(pixels, grids)]
        if sees:
            positions, deltas = model.model.get_rope_index(
                ids, kinds, image_grid_thw=seen.get("image_grid_thw"), attention_mask=mask
            )
        else:
            positions = torch.arange(length).expand(3, len(sequences), length)
            deltas = torch.zeros(len(sequences))

    layers = spec["text"]["num_hidden_layers"]
    vision_depth = spec["vision"]["depth"] if sees else 0
    wanted = [
        "visual.patch_embed.proj.weight",
        "visual.blocks.0.norm1.bias",
        "visual.blocks.0.mlp.fc1.weight",
        f"visual.blocks.{vision_depth - 1}.mlp.fc2.bias",
        "visual.merger.ln_q.bias",
        "visual.blocks.0.attn.qkv.weight",
        f"visual.blocks.{vision_depth - 1}.attn.qkv.bias",
        f"visual.blocks.{vision_depth - 1}.mlp.down_proj.weight",
        "visual.merger.ln_q.weight",
        "visual.merger.mlp.0.weight",
        "model.embed_tokens.weight",
        "model.layers.0.self_attn.q_proj.weight",
        "model.layers.0.self_attn.k_proj.bias",
        f"model.layers.{layers - 1}.mlp.down_proj.weight",
        f"model.layers.{layers - 1}.post_attention_layernorm.weight",
        "model.norm.weight",
        "lm_head.weight",
    ]
    gradients = {}
    for full_name, parameter in model.named_parameters():
        short = released(full_name)
        if short not in wanted or parameter.grad is None:
            continue
        flat = parameter.grad.flatten()
        step = max(1, -(-flat.numel() // GRADIENT_SAMPLES))
        # An even step would meet the same column of a matrix again and again.
        step += step > 1 and step % 2 == 0
        gradients[short] = {
            "norm": float(flat.norm()),
            "step": int(step),
            "values": packed(flat[:: int(step)]),
        }

    for s in sequences:
        prompt = torch.tensor([s["tokenIds"][: s["answer"]]])
        own = {}
        if s["images"]:
            own = {
                "pixel_values": torch.cat([pixels[i] for i in s["images"]]),
                "image_grid_thw": torch.cat([grids[i] for i in s["images"]]),
            }
        with torch.no_grad():
            made = model.generate(
                input_ids=prompt,
                attention_mask=torch.ones_like(prompt),
                **({"mm_token_type_ids": (prompt == IMAGE).int()} if sees else {}),
                **own,
                do_sample=False,
                max_new_tokens=NEW_TOKENS,
                suppress_tokens=BANNED,
                eos_token_id=[TURN_END, END_OF_TEXT],
                pad_token_id=END_OF_TEXT,
                output_scores=True,
                return_dict_in_generate=True,
            )
        tokens = made.sequences[0, prompt.shape[1] :]
        scores = torch.cat(made.scores).log_softmax(-1)
        best = scores.topk(2).values
        margin = float((best[:, 0] - best[:, 1]).min())
        # Two tokens this close might change places through rounding alone.
        assert margin > 1e-3, (name, margin)
        s["greedy"] = {
            "tokenIds": tokens.tolist(),
            "logProbabilities": packed(scores.gather(1, tokens[:, None])[:, 0]),
        }

    print(
        name,
        f"loss {float(output.loss.detach()):.4f}",
        f"logits std {float(output.logits.detach().std()):.3f}",
        "greedy lengths",
        [len(s["greedy"]["tokenIds"]) for s in sequences],
        {k: f"{v['norm']:.3g}" for k, v in gradients.items()},
    )
    return {
        "config": config,
        "processor": processor_config if sees else None,
        "images": [{"height": h, "width": w, **({"faint": True} if f else {})} for h, w, *f in spec["images"]],
        "grids": [g[0].tolist() for g in grids],
        "sequences": [
            {
                **s,
                "positions": [positions[axis, row, : len(s["tokenIds"])].tolist() for axis in range(3)],
                "ropeDelta": int(deltas.flatten()[row]),
                "logits": packed(output.logits[row, : len(s["tokenIds"])]),
            }
            for row, s in enumerate(sequences)
        ],
        "features": [packed(f) for f in features],
        "loss": float(output.loss.detach()),
        "gradients": gradients,
    }


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, spec in MODELS.items():
        (folder / f"{name}.json").write_text(json.dumps(record(name, spec), separators=(",", ":")) + "\n")


main()
