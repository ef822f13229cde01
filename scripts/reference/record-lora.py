"""Records the adapter that test/model/lora/peft.test.ts reads, and checks one of ours in PEFT.

    pip install torch transformers peft
    python scripts/reference/record-lora.py record test/model/fixtures/qwen-tiny-random test/model/fixtures/lora
    python scripts/reference/record-lora.py check BASE ADAPTER LOGITS

`record` puts a LoRA of PEFT with random A and B on the recorded tiny model, on the language model, the vision tower
and the merger, and writes it as PEFT does, with the logits, the loss and gradients of one sequence with an image.
`check` opens a base model and an adapter that q-ponder wrote, and compares the logits of LOGITS
({"tokenIds": [...], "logits": [...]}, text only; scripts/reference/write-logits.ts writes it).
"""

import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from PIL import Image
from transformers import AutoConfig, AutoModelForCausalLM, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_vl import Qwen2VLImageProcessorPil


def rounded(values: torch.Tensor) -> list[float]:
    return [float(f"{v:.7g}") for v in values.detach().flatten().tolist()]


def load(folder: Path):
    alone = AutoConfig.from_pretrained(folder).model_type == "qwen2"
    family = AutoModelForCausalLM if alone else Qwen2_5_VLForConditionalGeneration
    model = family.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return model.eval()


def record(base: Path, out: Path) -> None:
    torch.manual_seed(3)
    model = load(base)
    targets = r".*layers\.\d+\.(self_attn\.(q_proj|k_proj|v_proj|o_proj)|mlp\.(gate_proj|up_proj|down_proj))|.*visual\.(blocks\.\d+\.(attn\.(qkv|proj)|mlp\.(gate_proj|up_proj|down_proj))|merger\.mlp\.[02])"
    config = LoraConfig(r=2, lora_alpha=6, use_rslora=True, target_modules=targets, task_type="CAUSAL_LM")
    adapted = get_peft_model(model, config)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_" in name:
                weight.copy_((torch.randn_like(weight) * 0.2).bfloat16().float())
    reference = json.loads((base / "reference.json").read_text())
    processor = Qwen2VLImageProcessorPil(**json.loads((base / "preprocessor_config.json").read_text()))
    one = reference["images"][0]
    pixels = torch.tensor(one["rgb"], dtype=torch.uint8).view(one["height"], one["width"], 3)
    vision = processor([Image.fromarray(pixels.numpy())], return_tensors="pt")
    ids = torch.tensor([reference["tokenIds"][0]])
    kinds = (ids == model.config.image_token_id).int()
    logits = adapted(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        pixel_values=vision["pixel_values"],
        image_grid_thw=vision["image_grid_thw"],
        mm_token_type_ids=kinds,
    ).logits
    # Cross entropy, summed, of the last four tokens.
    taken = logits[0, -5:-1].log_softmax(-1).gather(1, ids[0, -4:, None])
    loss = -taken.sum()
    loss.backward()
    adapted.save_pretrained(out)
    gradients = {
        name.replace("base_model.model.", "").replace(".default", ""): rounded(weight.grad)
        for name, weight in adapted.named_parameters()
        if "lora_" in name and any(part in name for part in ("blocks.0.attn.qkv", "merger.mlp.2", "layers.0.self_attn.v_proj", "layers.1.mlp.down_proj"))
    }
    frozen = [name for name, weight in adapted.named_parameters() if "lora_" not in name and weight.requires_grad]
    assert frozen == [], frozen
    (out / "reference.json").write_text(
        json.dumps({"logits": rounded(logits[0, -5:]), "loss": float(loss), "gradients": gradients}) + "\n"
    )
    (out / "README.md").unlink()
    path = out / "adapter_config.json"
    written = json.loads(path.read_text())
    written["base_model_name_or_path"] = "../qwen-tiny-random"
    path.write_text(json.dumps(written, indent=2) + "\n")


def check(base: Path, adapter: Path, expected: Path) -> None:
    wanted = json.loads(expected.read_text())
    model = load(base)
    adapted = PeftModel.from_pretrained(model, adapter)
    trained = {name for name, _ in adapted.named_parameters() if "lora_A" in name}
    ids = torch.tensor([wanted["tokenIds"]])
    with torch.no_grad():
        logits = adapted(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
        plain = load(base)(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
    ours = torch.tensor(wanted["logits"]).view_as(logits)
    scale = logits.abs().max()
    print(
        json.dumps(
            {
                "adapted layers": len(trained),
                "largest difference": float((ours - logits).abs().max() / scale),
                "the adapter's own effect": float((plain - logits).abs().max() / scale),
            }
        )
    )


if sys.argv[1] == "record":
    record(Path(sys.argv[2]), Path(sys.argv[3]))
else:
    check(*(Path(argument) for argument in sys.argv[2:5]))
