"""Records the reference that test/model/qwen-parity.test.ts compares with.

    pip install torch transformers pillow
    python scripts/reference/record-qwen.py test/model/fixtures/qwen-tiny-random

A Qwen2.5-VL of a few thousand random weights (rounded to bfloat16, computed in float32) is built with the
transformers library, fed two images of different, non-square size and two texts of different length, and its
image features, positions and logits are written beside its weights. Everything is seeded.
"""

import json
import sys
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_vl import Qwen2VLImageProcessorPil

IMAGE_PAD, VIDEO_PAD, VISION_START, VISION_END, EOS = 60, 61, 62, 63, 59

CONFIG = {
    "architectures": ["Qwen2_5_VLForConditionalGeneration"],
    "model_type": "qwen2_5_vl",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000.0,
    "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]},
    "tie_word_embeddings": False,
    "vocab_size": 64,
    "bos_token_id": EOS,
    "eos_token_id": EOS,
    "pad_token_id": EOS,
    "vision_start_token_id": VISION_START,
    "vision_end_token_id": VISION_END,
    "image_token_id": IMAGE_PAD,
    "video_token_id": VIDEO_PAD,
    "vision_config": {
        "depth": 3,
        "hidden_size": 32,
        "num_heads": 2,
        "intermediate_size": 40,
        "out_hidden_size": 32,
        "patch_size": 4,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": 16,
        "fullatt_block_indexes": [1],
    },
}
PROCESSOR = {
    "patch_size": 4,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "min_pixels": 64,
    "max_pixels": 4096,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    config = Qwen2_5_VLConfig(**json.loads(json.dumps(CONFIG)))
    config._attn_implementation = "eager"
    model = Qwen2_5_VLForConditionalGeneration(config).float().eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            norm = weight.dim() == 1 and name.endswith("weight")
            weight.copy_((torch.randn_like(weight) * 0.2 + (1 if norm else 0)).bfloat16().float())

    generator = torch.Generator().manual_seed(2)
    # 24x40 has its final size (odd merged grid 3x5); 21x50 must be resized to 24x48.
    images = [
        torch.randint(0, 256, (h, w, 3), generator=generator, dtype=torch.uint8) for h, w in ((24, 40), (21, 50))
    ]
    # Smooth the second, so that its resized values are not all noise at the 8-bit limits.
    images[1] = (images[1].float().cumsum(1) / torch.arange(1, 51).view(1, 50, 1)).to(torch.uint8)
    processor = Qwen2VLImageProcessorPil(**PROCESSOR)
    vision = processor([Image.fromarray(image.numpy()) for image in images], return_tensors="pt")
    grids = vision["image_grid_thw"]
    tokens = [int(grid.prod()) // 4 for grid in grids]

    texts = [
        [5, 6, VISION_START, *[IMAGE_PAD] * tokens[0], VISION_END, 7, 8, 9, 10, 11],
        [12, VISION_START, *[IMAGE_PAD] * tokens[1], VISION_END, 13, 14],
    ]
    length = max(map(len, texts))
    ids = torch.tensor([text + [EOS] * (length - len(text)) for text in texts])
    mask = torch.tensor([[1] * len(text) + [0] * (length - len(text)) for text in texts])
    kinds = (ids == IMAGE_PAD).int()
    with torch.no_grad():
        features = torch.cat(model.model.get_image_features(vision["pixel_values"], grids).pooler_output)
        positions, deltas = model.model.get_rope_index(ids, kinds, image_grid_thw=grids, attention_mask=mask)
        logits = model(
            input_ids=ids,
            attention_mask=mask,
            pixel_values=vision["pixel_values"],
            image_grid_thw=grids,
            mm_token_type_ids=kinds,
        ).logits

    def rounded(values: torch.Tensor) -> list[float]:
        return [float(f"{v:.7g}") for v in values.flatten().tolist()]

    # The names of the released checkpoints, which the library renames when it loads them.
    weights = {
        name.replace("model.visual.", "visual.").replace("model.language_model.", "model."): weight.bfloat16().contiguous()
        for name, weight in model.state_dict().items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR, indent=2) + "\n")
    reference = {
        "images": [{"height": i.shape[0], "width": i.shape[1], "rgb": i.flatten().tolist()} for i in images],
        "grids": grids.tolist(),
        # The whole patches are long; two rows of each image pin order and values.
        "patchRows": [
            {"row": row, "values": rounded(vision["pixel_values"][row])}
            for row in (1, int(grids[0].prod()) - 2, int(grids[0].prod()) + 3, vision["pixel_values"].shape[0] - 1)
        ],
        "features": rounded(features),
        "tokenIds": texts,
        "positions": [[positions[a, b, : len(text)].tolist() for a in range(3)] for b, text in enumerate(texts)],
        "ropeDeltas": deltas.flatten().tolist(),
        "logits": [rounded(logits[b, : len(text)]) for b, text in enumerate(texts)],
    }
    (folder / "reference.json").write_text(json.dumps(reference, separators=(",", ":")) + "\n")
    print({"logits": tuple(logits.shape), "std": float(logits.std()), "features std": float(features.std())})


main()
