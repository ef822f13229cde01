"""Records which tokens the transformers library may draw and how probable each is, for test/model/sampling-parity.test.ts.

    pip install torch transformers
    python scripts/reference/record-sampling.py test/model/fixtures/sampling.json

For every case (seeded): logits of 24 tokens, the tokens there have been, the settings, and the probabilities that
remain after the very processors that `generate` puts together from a GenerationConfig, in its order. Logits in steps
of 0.5 have ties; where top-p cuts, they have none, because which of two equal tokens it keeps is left to the sort.
"""

import json
import sys

import torch
import transformers
from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM

VOCABULARY = 24
sizes = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, intermediate_size=8)
model = Qwen2ForCausalLM(Qwen2Config(vocab_size=VOCABULARY, **sizes))
torch.manual_seed(4)


def ties():
    return (torch.randn(VOCABULARY) * 4).round() / 2


def distinct():
    return torch.randn(VOCABULARY) * 2


SETTINGS = [
    (ties, {}),
    (distinct, dict(temperature=0.3)),
    (distinct, dict(temperature=7.0)),
    (ties, dict(top_k=1)),
    (ties, dict(top_k=3)),
    (ties, dict(top_k=6, temperature=1.7)),
    (ties, dict(top_k=12)),
    (ties, dict(top_k=500)),
    (distinct, dict(top_p=0.1)),
    (distinct, dict(top_p=0.5)),
    (distinct, dict(top_p=0.9, temperature=2.0)),
    (distinct, dict(top_p=0.999)),
    (distinct, dict(top_k=5, top_p=0.6)),
    (distinct, dict(top_k=10, top_p=0.8, temperature=1.5)),
    (ties, dict(repetition_penalty=1.3)),
    (ties, dict(repetition_penalty=0.6, temperature=0.8)),
    (ties, dict(repetition_penalty=1.9, top_k=4)),
    (distinct, dict(repetition_penalty=1.2, top_p=0.7)),
    (ties, dict(suppress_tokens=[0, 5, 23])),
    (ties, dict(suppress_tokens=[1, 2, 3, 4], top_k=4)),
    (distinct, dict(suppress_tokens=list(range(0, 24, 2)), top_p=0.75)),
    (ties, dict(suppress_tokens=list(range(3, 24)), top_k=8)),
    (distinct, dict(suppress_tokens=[7, 8], top_k=9, top_p=0.85, temperature=0.6, repetition_penalty=1.4)),
]

cases = []
for make, settings in SETTINGS:
    for _ in range(3):
        logits = make()
        if "suppress_tokens" in settings:  # one that would win, were it not banned
            logits[settings["suppress_tokens"][0]] = 9.25
        seen = torch.randint(0, VOCABULARY, (7,)).tolist()
        config = GenerationConfig(do_sample=True, **{"top_k": 0, "top_p": 1.0, "temperature": 1.0, **settings})
        processors = model._get_logits_processor(config, input_ids_seq_length=len(seen), device="cpu")
        scores = processors(torch.tensor([seen]), logits[None].clone())
        probabilities = torch.softmax(scores.double(), -1)[0]
        rounded = [float(f"{p:.7g}") for p in probabilities.tolist()]
        numbers = [float(f"{x:.9g}") for x in logits.tolist()]
        cases.append({"settings": settings, "seen": seen, "logits": numbers, "probabilities": rounded})

with open(sys.argv[1], "w") as file:
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    file.write(f'{{"transformers":"{transformers.__version__}","cases":[\n{lines}\n]}}\n')
