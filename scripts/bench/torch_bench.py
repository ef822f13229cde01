"""The language model of the bench in PyTorch: torch_bench.py THREADS SETUP_FOLDER.

Answers requests as scripts/bench/protocol.ts describes. Same weights, batches, AdamW and clipping as the other
engines. Written as PyTorch is fast on a CPU: fused attention, fused AdamW, a cache written in place.
"""

import json
import math
import os
import struct
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

DTYPES = {"F32": torch.float32}


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = bytearray(file.read())
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(raw, dtype=DTYPES[entry["dtype"]], offset=8 + size + begin, count=(end - begin) // 4)
        tensors[name] = flat.reshape(entry["shape"]).clone()
    return tensors


class Language:
    def __init__(self, folder):
        with open(os.path.join(folder, "setup.json"), encoding="utf-8") as file:
            self.setup = json.load(file)
        self.c = self.setup["config"]
        self.w = {
            name: value.requires_grad_() for name, value in read_safetensors(os.path.join(folder, "model.safetensors")).items()
        }
        self.head_size = self.c["hidden_size"] // self.c["num_attention_heads"]
        half = self.head_size // 2
        rates = self.c["rope_theta"] ** (-torch.arange(half) / half)
        angles = torch.arange(256)[:, None] * rates
        self.cos = torch.cat([angles.cos(), angles.cos()], -1)
        self.sin = torch.cat([-angles.sin(), angles.sin()], -1)

    def rotate(self, x, cos, sin):
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([second, first], -1) * sin

    def norm(self, name, x):
        return F.rms_norm(x, (x.shape[-1],), self.w[name + ".weight"], self.c["rms_norm_eps"])

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def hidden(self, ids, start, attend):
        """[B, T] at positions start.. -> [B, T, hidden]; attend(layer, q, k, v), all [B, heads, T, D]."""
        batch, length = ids.shape
        cos, sin = self.cos[start : start + length], self.sin[start : start + length]
        x = F.embedding(ids, self.w["model.embed_tokens.weight"])
        for layer in range(self.c["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            h = self.norm(f"{name}.input_layernorm", x)

            def project(which):
                return self.linear(f"{name}.self_attn.{which}_proj", h).view(batch, length, -1, self.head_size).transpose(1, 2)

            q = self.rotate(project("q"), cos, sin)
            k = self.rotate(project("k"), cos, sin)
            mixed = attend(layer, q, k, project("v")).transpose(1, 2).reshape(batch, length, -1)
            x = x + self.linear(f"{name}.self_attn.o_proj", mixed)
            h = self.norm(f"{name}.post_attention_layernorm", x)
            gated = F.silu(self.linear(f"{name}.mlp.gate_proj", h)) * self.linear(f"{name}.mlp.up_proj", h)
            x = x + self.linear(f"{name}.mlp.down_proj", gated)
        return self.norm("model.norm", x)

    def logits(self, hidden):
        return F.linear(hidden, self.w["model.embed_tokens.weight"])


def training(model):
    setup = model.setup
    batches = [torch.tensor(batch) for batch in setup["batches"]]
    weights = list(model.w.values())
    optimizer = torch.optim.AdamW(
        [
            {"params": [w for w in weights if w.dim() >= 2], "weight_decay": setup["weightDecay"]},
            {"params": [w for w in weights if w.dim() < 2], "weight_decay": 0.0},
        ],
        lr=setup["learningRate"],
        betas=tuple(setup["betas"]),
        eps=setup["epsilon"],
        fused=True,
    )
    step = 0

    def attend(_layer, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    def work():
        nonlocal step
        ids = batches[step % len(batches)]
        step += 1
        hidden = model.hidden(ids, 0, attend)[:, :-1]
        loss = F.cross_entropy(model.logits(hidden).flatten(0, 1), ids[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, setup["clipNorm"])
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return [loss.item()]

    return work


def generation(model):
    setup, c = model.setup, model.c
    prompts = torch.tensor(setup["prompts"])
    ban = torch.zeros(c["vocab_size"])
    ban[setup["bannedTokenIds"]] = -1e9
    rows, given = prompts.shape
    total = given + setup["newTokens"]
    shape = (c["num_hidden_layers"], rows, c["num_key_value_heads"], total, model.head_size)

    @torch.inference_mode()
    def work():
        keys, values = torch.empty(shape), torch.empty(shape)
        ids, start, made = prompts, 0, []

        def attend(layer, q, k, v):
            end = start + q.shape[2]
            keys[layer, :, :, start:end] = k
            values[layer, :, :, start:end] = v
            past = (keys[layer, :, :, :end], values[layer, :, :, :end])
            return F.scaled_dot_product_attention(q, *past, is_causal=start == 0, enable_gqa=True)

        while len(made) < setup["newTokens"]:
            last = model.hidden(ids, start, attend)[:, -1]
            start += ids.shape[1]
            ids = (model.logits(last) + ban).argmax(-1, keepdim=True)
            made.append(ids)
        return torch.cat(made, 1).flatten().tolist()

    return work


def main():
    threads, folder = int(sys.argv[1]), sys.argv[2]
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    model = Language(folder)
    blas = next((part for part in torch.__config__.show().split(", ") if "BLAS_INFO" in part), "BLAS unknown")
    description = f"torch {torch.__version__} eager, {blas.split('BLAS_INFO=')[-1].upper()}, {threads} thread{'s' if threads > 1 else ''}"
    print("READY " + json.dumps({"description": description}), flush=True)
    makers = {"language-training": training, "language-generation": generation}
    works = {}
    for line in sys.stdin:
        request = json.loads(line)
        task = request["task"]
        if task not in works:
            works[task] = makers[task](model)
        milliseconds, processor, evidence = [], [], []
        for _ in range(request["repeats"]):
            begin, used = time.perf_counter(), time.process_time()
            evidence.extend(works[task]())
            milliseconds.append(1000 * (time.perf_counter() - begin))
            processor.append(1000 * (time.process_time() - used))
        assert all(math.isfinite(value) for value in evidence)
        answer = {"milliseconds": milliseconds, "processorMilliseconds": processor, "evidence": evidence}
        print("ANSWER " + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
