"""TRL's GRPOTrainer on the task of the bench: trl_grpo.py TASK THREADS SEQUENCES_PER_PASS.

One optimiser step per line of standard input, answered by a line "STEP {...}"; times in seconds. Generation is
transformers' own, for want of a GPU. The clock stands still outside of a step: loading pictures ahead and logging
are not counted.
"""

import json
import math
import os
import re
import sys
import tempfile
import time

task = json.load(open(sys.argv[1]))
threads, per_pass = int(sys.argv[2]), int(sys.argv[3])
os.environ["OMP_NUM_THREADS"] = str(threads)
# Libraries chatter on standard output; the protocol keeps the real one.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import datasets  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import trl  # noqa: E402
from PIL import Image  # noqa: E402

torch.set_num_threads(threads)
sequences = task["prompts"] * task["groupSize"]
NUMBER = re.compile(r"<answer>\s*(\d+(?:\.\d+)?)\s*</answer>")
clock = {}


def accuracy(completions, mos, **_):
    rewards = []
    for completion, target in zip(completions, mos):
        found = NUMBER.search(completion[0]["content"])
        error = None if found is None else float(found.group(1)) - target
        rewards.append(0.0 if error is None else math.exp(-(error**2) / (2 * task["sigma"] ** 2)))
    clock["rewardMean"] = sum(rewards) / len(rewards)
    return rewards


class Timed(trl.GRPOTrainer):
    def _generate(self, *args, **kwargs):
        began = time.perf_counter()
        result = super()._generate(*args, **kwargs)
        clock["rollout"] += time.perf_counter() - began
        clock["completions"] += len(result[1])
        clock["tokens"] += sum(map(len, result[1]))
        return result

    def _calculate_rewards(self, *args, **kwargs):
        began = time.perf_counter()
        result = super()._calculate_rewards(*args, **kwargs)
        clock["reward"] += time.perf_counter() - began
        return result


class OneStepPerLine(transformers.TrainerCallback):
    def on_train_begin(self, *_, **__):
        description = (
            f"TRL {trl.__version__}, transformers {transformers.__version__}, torch {torch.__version__},"
            f" {torch.get_num_threads()} threads, {per_pass} sequences a pass, {attention}"
        )
        answers.write(f"READY {json.dumps({'description': description})}\n")

    def on_step_begin(self, *_, **__):
        if sys.stdin.readline() == "":
            os._exit(0)
        clock.update(rollout=0, reward=0, completions=0, tokens=0)
        clock.update(began=time.perf_counter(), processor=time.process_time())

    def on_step_end(self, *_, **__):
        seconds = time.perf_counter() - clock["began"]
        step = {key: clock[key] for key in ("rollout", "reward", "completions", "tokens", "rewardMean")}
        step.update(seconds=seconds, processorSeconds=time.process_time() - clock["processor"])
        step["update"] = seconds - step["rollout"] - step["reward"]
        answers.write(f"STEP {json.dumps(step)}\n")


records = [json.loads(line) for line in open(os.path.join(task["data"], "records.jsonl"))]
rows = [
    {
        "prompt": [{"role": "user", "content": task["question"]}],
        "image": Image.open(os.path.join(task["data"], record["image"])).convert("RGB"),
        "mos": record["mos"],
    }
    for record in records
    if record["split"] == "train"
]
model = transformers.Qwen2_5_VLForConditionalGeneration.from_pretrained(
    task["model"], dtype=torch.float32, attn_implementation="sdpa"
)
attention = model.config._attn_implementation
processor = transformers.AutoProcessor.from_pretrained(task["model"])
processor.chat_template = processor.chat_template or processor.tokenizer.chat_template
# The tower holds the merger.
model.model.visual.requires_grad_(False)
with tempfile.TemporaryDirectory() as folder:
    trainer = Timed(
        model=model,
        processing_class=processor,
        reward_funcs=accuracy,
        train_dataset=datasets.Dataset.from_list(rows),
        callbacks=[OneStepPerLine()],
        args=trl.GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            bf16=False,
            seed=task["seed"],
            max_steps=task["steps"],
            per_device_train_batch_size=per_pass,
            gradient_accumulation_steps=sequences // per_pass,
            num_generations=task["groupSize"],
            max_completion_length=task["maxNewTokens"],
            temperature=1.0,
            beta=task["klCoefficient"],
            mask_truncated_completions=True,
            learning_rate=task["learningRate"],
            lr_scheduler_type="constant",
            adam_beta2=0.95,
            weight_decay=0.0,
            max_grad_norm=1.0,
            gradient_checkpointing=False,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
    )
    trainer.train()
