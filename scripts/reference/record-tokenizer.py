"""Records how the tokenizers library (Rust) cuts awkward texts, for test/model/tokenizer.test.ts.

    pip install tokenizers
    python scripts/reference/record-tokenizer.py test/model/fixtures/tokenizer

The folder holds a tokenizer.json made by scripts/build-tokenizer.ts; reference.json is written beside it.
"""

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer

TEXTS = [
    "<think>The street scene is sharp; so the quality is poor.</think><answer>2.13</answer>",
    "  two  spaces  ",
    "it's IT'S don'T we'LL",
    "図 façade e\u0301 😀\u200d😀",
    "\r\n\n a\tb",
    "\ufeffmark",
    "123 4.56 ½ Ⅷ",
    "<|im_start|>user\nRate <|image_pad|><|image_pad|><|im_end|>",
    "a\u2028b  \n c",
    "\n\n\n!!\n",
    "ſ'ſ K'S",
]

folder = Path(sys.argv[1])
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
rows = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]
(folder / "reference.json").write_text(json.dumps(rows, indent=1) + "\n")
