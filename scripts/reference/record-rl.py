"""Records what verl's and TRL's own functions compute, for test/rl/parity.test.ts.

    pip install torch trl verl   (and what verl's core_algos imports: ray omegaconf tensordict orjson ...)
    python scripts/reference/record-rl.py test/rl/fixtures

Writes parity.json: one random batch (seeded, four decimals, response masks with gaps as in multi-turn rollouts),
and for every case the value and, of losses, the gradient with respect to the current log-probabilities. Torch
computes in float64. TRL's losses are methods of a trainer: they are called with a stand-in for the trainer that
returns the given log-probabilities instead of running a model.
"""

import importlib.metadata
import json
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from trl.experimental.gmpo.gmpo_trainer import GMPOTrainer
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.grpo_trainer import GRPOTrainer
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo import core_algos, rollout_corr_helper
from verl.workers.config import ActorConfig
from verl.workers.config.actor import PolicyLossConfig

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(6)
SIZE, LENGTH, GROUP = 8, 7, 4

# ---- the batch: two prompts of four responses; zeros within a row are observations, at its end padding.
MASK = [
    [1, 1, 1, 0, 0, 1, 1],
    [1, 1, 1, 1, 1, 1, 1],
    [1, 0, 0, 1, 1, 0, 0],
    [1, 1, 1, 1, 0, 0, 0],
    [1, 1, 0, 1, 1, 1, 0],
    [1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 0, 0],
    [1, 1, 0, 0, 1, 0, 0],
]


def draw(low, high, shape=(SIZE, LENGTH)):
    return np.round(rng.uniform(low, high, shape), 4)


old = draw(-2.5, -0.3)
batch = {
    "mask": MASK,
    "groups": ["a"] * GROUP + ["b"] * GROUP,
    "old": old.tolist(),
    "current": np.round(old + rng.normal(0, 0.35, old.shape), 4).tolist(),
    "sampler": np.round(old + rng.normal(0, 0.4, old.shape), 4).tolist(),
    "reference": draw(-2.5, -0.3).tolist(),
    "entropies": draw(0.05, 2).tolist(),
    "values": draw(-1, 1).tolist(),
    "newValues": draw(-1, 1).tolist(),
    "targets": draw(-1, 1).tolist(),
    # One advantage per sequence, both signs.
    "advantages": [1.3, -0.7, 0.4, -1.1, 0.9, -0.5, 1.7, -2.0],
    "tokenAdvantages": draw(-2, 2).tolist(),
    "rewards": draw(0, 1, SIZE).tolist(),
    "successes": [1, 0, 0, 1, 0, 0, 0, 1],
    "greedy": draw(0, 1, SIZE).tolist(),
    "terms": draw(0, 1, (2, SIZE)).tolist(),
}
T = {key: torch.tensor(value) for key, value in batch.items() if key != "groups"}
mask = T["mask"].to(torch.float64)
index = np.array(batch["groups"], dtype=object)
sequence_advantages = T["advantages"].unsqueeze(1).expand(SIZE, LENGTH) * mask

cases = {}


def listed(value):
    return value.detach().tolist() if isinstance(value, torch.Tensor) else value


def record_loss(name, loss_of, start=None):
    current = (T["current"] if start is None else start).clone().requires_grad_(True)
    loss = loss_of(current)
    loss.backward()
    cases[name] = {"loss": loss.item(), "gradient": current.grad.tolist()}


# ---- verl: policy losses
def verl_config(loss=None, **settings):
    return ActorConfig(
        strategy="fsdp",
        rollout_n=GROUP,
        ppo_micro_batch_size_per_gpu=1,
        policy_loss=PolicyLossConfig(**(loss or {})),
        **settings,
    )


def verl_loss(name, function, aggregation, advantages, loss=None, **settings):
    record_loss(
        f"verl/{name}",
        lambda current: function(
            T["old"], current, advantages, mask, aggregation, verl_config(loss, **settings)
        )[0],
    )


tokens = T["tokenAdvantages"]
verl_loss("clip", core_algos.compute_policy_loss_vanilla, "token-mean", tokens, clip_ratio_c=1e9)
verl_loss(
    "clip-higher-dual",
    core_algos.compute_policy_loss_vanilla,
    "token-mean",
    tokens,
    clip_ratio_low=0.2,
    clip_ratio_high=0.28,
    clip_ratio_c=1.5,
)
for aggregation in ["seq-mean-token-mean", "seq-mean-token-sum-norm"]:
    verl_loss(f"clip/{aggregation}", core_algos.compute_policy_loss_vanilla, aggregation, tokens, clip_ratio_c=1e9)
verl_loss(
    "gspo-token",
    core_algos.compute_policy_loss_gspo,
    "seq-mean-token-mean",
    sequence_advantages,
    clip_ratio_low=0.1,
    clip_ratio_high=0.15,
)
verl_loss("sapo", core_algos.compute_policy_loss_sapo, "seq-mean-token-mean", tokens)
verl_loss(
    "cispo", core_algos.compute_policy_loss_cispo, "token-mean", tokens, clip_ratio_low=0.2, clip_ratio_high=0.3
)
verl_loss(
    "gmpo",
    core_algos.compute_policy_loss_geo_mean,
    "token-mean",
    sequence_advantages,
    clip_ratio_low=0.2,
    clip_ratio_high=0.3,
)
# With the whole batch as share nothing is left to chance.
verl_loss(
    "clip-cov",
    core_algos.compute_policy_loss_clip_cov,
    "token-mean",
    tokens,
    loss={"clip_cov_ratio": 1.0, "clip_cov_lb": 0.1, "clip_cov_ub": 0.8},
)
verl_loss(
    "kl-cov",
    core_algos.compute_policy_loss_kl_cov,
    "token-mean",
    tokens,
    loss={"kl_cov_ratio": 0.2, "ppo_kl_coef": 0.5},
)

# ---- verl: KL, value loss, controller
for kind in ["k1", "k2", "k3", "k3+"]:
    record_loss(
        f"verl/kl/{kind}",
        lambda current, kind=kind: core_algos.agg_loss(
            core_algos.kl_penalty(current, T["reference"], kind), mask, "token-mean"
        ),
    )
record_loss(
    "verl/value-loss",
    lambda values: core_algos.compute_value_loss(values, T["targets"], T["values"], mask, cliprange_value=0.2)[0],
    start=T["newValues"],
)
controller = core_algos.AdaptiveKLController(0.1, 0.05, 100)
steps = []
for kl, samples in [(0.02, 16), (0.2, 16), (0.055, 8)]:
    controller.update(kl, samples)
    steps.append({"kl": kl, "samples": samples, "coefficient": float(controller.value)})
cases["verl/adaptive-kl"] = steps


# ---- verl: advantages. The reward stands on the last action token.
def token_rewards(rewards):
    placed = torch.zeros(SIZE, LENGTH)
    for i in range(SIZE):
        placed[i, mask[i].nonzero().max()] = rewards[i]
    return placed


def advantages(name, value):
    cases[f"verl/advantages/{name}"] = listed(value[0] * mask)
    return value


outcome = token_rewards(T["rewards"])
algo = AlgoConfig(gamma=0.9, lam=0.8)
advantages("grpo", core_algos.compute_grpo_outcome_advantage(outcome.clone(), mask, index))
advantages(
    "dr-grpo",
    core_algos.compute_grpo_outcome_advantage(outcome.clone(), mask, index, norm_adv_by_std_in_grpo=False),
)
advantages("rloo", core_algos.compute_rloo_outcome_advantage(outcome.clone(), mask, index))
advantages("opo", core_algos.compute_opo_outcome_advantage(outcome.clone(), mask, index))
advantages(
    "best-of-group",
    core_algos.compute_grpo_passk_outcome_advantage(outcome.clone(), mask, index, config=AlgoConfig()),
)
advantages("remax", core_algos.compute_remax_outcome_advantage(outcome.clone(), T["greedy"], mask))
advantages(
    "reinforce++", core_algos.compute_reinforce_plus_plus_outcome_advantage(outcome.clone(), mask, config=algo)
)
advantages(
    "reinforce++-baseline",
    core_algos.compute_reinforce_plus_plus_baseline_outcome_advantage(outcome.clone(), mask, index),
)
# All lengths equal: verl whitens over tokens, the paper over samples, and then both are the same up to Bessel's n - 1.
gdpo_config = {"gdpo_reward_keys": ["x", "y"], "gdpo_reward_weights": [1.0, 0.5]}
advantages(
    "gdpo",
    core_algos.compute_gdpo_outcome_advantage(
        outcome.clone(),
        torch.ones(SIZE, LENGTH),
        index,
        config=gdpo_config,
        non_tensor_batch={"x": batch["terms"][0], "y": batch["terms"][1]},
        batch={"prompts": torch.zeros(SIZE, 1), "attention_mask": torch.ones(SIZE, LENGTH + 1, dtype=torch.long)},
    ),
)
_, returns = advantages(
    "gae", core_algos.compute_gae_advantage_return(outcome.clone(), T["values"], mask, 0.9, 0.8)
)
cases["verl/returns/gae"] = listed(returns * mask)

# ---- verl: correction between sampler and trainer
log_ratio = T["old"] - T["sampler"]
for name, level, threshold in [
    ("token-truncate", "token", 1.2),
    ("sequence-truncate", "sequence", 1.2),
    ("token-mask", "token", "0.7_1.3"),
    ("sequence-mask", "sequence", "0.4_1.5"),
]:
    weights, _ = rollout_corr_helper.compute_rollout_correction_weights(log_ratio, mask, level, threshold)
    cases[f"verl/importance/{name}"] = listed(weights)


# ---- TRL: GRPO's losses
class Metrics(defaultdict):
    def __init__(self):
        super().__init__(lambda: defaultdict(list))


accelerator = SimpleNamespace(
    gather=lambda x: x,
    gather_for_metrics=lambda x: x,
    reduce=lambda x, reduction: x,
    pad_across_processes=lambda x, **_: x,
    num_processes=1,
    sync_gradients=True,
    device=torch.device("cpu"),
)


def trl_loss(name, trainer=GRPOTrainer, entropies=None, **settings):
    def loss_of(current):
        args = SimpleNamespace(
            delta=settings.get("delta"),
            use_bias_correction_kl=settings.get("bias_correction", False),
            sapo_temperature_pos=1.0,
            sapo_temperature_neg=1.05,
            steps_per_generation=1,
        )
        stand_in = SimpleNamespace(
            args=args,
            accelerator=accelerator,
            model=SimpleNamespace(training=True),
            loss_type=settings.get("loss_type", "grpo"),
            importance_sampling_level=settings.get("level", "token"),
            epsilon_low=settings.get("low", 0.2),
            epsilon_high=settings.get("high", 0.2),
            beta=settings.get("beta", 0.0),
            top_entropy_quantile=settings.get("top_entropy", 1.0),
            off_policy_mask_threshold=settings.get("off_policy"),
            use_vllm=False,
            vllm_importance_sampling_correction=False,
            aux_loss_enabled=False,
            max_completion_length=LENGTH,
            current_gradient_accumulation_steps=1,
            _entropy_bonus_enabled=False,
            _metrics=Metrics(),
            _get_per_token_logps_and_entropies=lambda *_, **__: (current, T["entropies"], None),
        )
        stand_in.get_high_entropy_mask = lambda *a: GRPOTrainer.get_high_entropy_mask(stand_in, *a)
        stand_in.get_off_policy_mask = GRPOTrainer.get_off_policy_mask
        ids = torch.zeros(SIZE, LENGTH, dtype=torch.long)
        inputs = {
            "prompt_ids": ids,
            "prompt_mask": ids,
            "completion_ids": ids,
            "completion_mask": mask,
            "advantages": T["advantages"],
            "old_per_token_logps": T["old"],
            "sampling_per_token_logps": T["sampler"],
            "ref_per_token_logps": T["reference"],
            "num_items_in_batch": mask.sum(),
        }
        return trainer._compute_loss(stand_in, None, inputs)

    record_loss(f"trl/{name}", loss_of)


trl_loss("grpo")
trl_loss("dapo", loss_type="dapo", high=0.28)
trl_loss("dr_grpo", loss_type="dr_grpo")
trl_loss("grpo/kl", beta=0.3)
trl_loss("grpo/kl-corrected", beta=0.3, bias_correction=True)
trl_loss("gspo", level="sequence", low=0.1, high=0.15)
trl_loss("cispo", loss_type="cispo", high=1.3)
trl_loss("sapo", loss_type="sapo")
trl_loss("grpo/top-entropy", loss_type="dapo", top_entropy=0.3)
trl_loss("grpo/off-policy-mask", off_policy=0.05)
trl_loss("gmpo", trainer=GMPOTrainer, low=0.2, high=0.3)

cases["trl/top-entropy-mask"] = listed(
    GRPOTrainer.get_high_entropy_mask(SimpleNamespace(accelerator=accelerator), T["entropies"], mask, 0.7).long()
)
cases["trl/off-policy-mask"] = listed(
    GRPOTrainer.get_off_policy_mask(T["advantages"].unsqueeze(1), T["current"], T["sampler"], mask, 0.05).squeeze(1)
)


# ---- TRL: DPO. The first half of the batch holds the chosen answers, the second half the rejected ones.
class Model:
    """Answers with log-probabilities as the patched forward of the trainer does."""

    def __init__(self, log_probs):
        self.log_probs, self.training, self.config = log_probs, True, SimpleNamespace()

    def __call__(self, **_):
        unused = torch.zeros(SIZE, LENGTH)
        return SimpleNamespace(
            log_probs=self.log_probs * mask, entropy=unused, mean_logits=unused, is_top1=unused.bool()
        )


def dpo_loss(current):
    stand_in = SimpleNamespace(
        model=Model(current),
        ref_model=Model(T["reference"]),
        accelerator=accelerator,
        args=SimpleNamespace(gradient_checkpointing_kwargs=None),
        aux_loss_enabled=False,
        ld_alpha=None,
        precompute_ref_logps=True,
        f_divergence_type="reverse_kl",
        loss_types=["sigmoid"],
        loss_weights=[1.0],
        beta=0.3,
        label_smoothing=0.0,
        use_weighting=False,
        _metrics=Metrics(),
        _total_train_tokens=0,
        _tp_size=1,
    )
    reference = (T["reference"] * mask).sum(1)
    inputs = {
        "input_ids": torch.zeros(SIZE, LENGTH + 1, dtype=torch.long),
        "attention_mask": torch.ones(SIZE, LENGTH + 1, dtype=torch.long),
        "completion_mask": torch.cat([torch.zeros(SIZE, 1), mask], 1),
        "ref_chosen_logps": reference[: SIZE // 2],
        "ref_rejected_logps": reference[SIZE // 2 :],
    }
    return DPOTrainer._compute_loss(stand_in, stand_in.model, inputs, False)


record_loss("trl/dpo", dpo_loss)


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


versions = {name: importlib.metadata.version(name) for name in ["torch", "trl", "verl"]}
document = {"versions": versions, "batch": batch, "cases": rounded(cases)}
lines = [
    f'  "versions": {json.dumps(versions)}',
    '  "batch": {\n' + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in batch.items()) + "\n  }",
    '  "cases": {\n'
    + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in document["cases"].items())
    + "\n  }",
]
Path(sys.argv[1], "parity.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(versions, len(cases), "cases")
