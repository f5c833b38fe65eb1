#!/usr/bin/env python3
"""Writes reference.json: words, NFC forms and repaired bytes as Python and Hugging Face's tokenizers see them.

Needs `pip install tokenizers`; made with 0.23.3. Usage: make_reference.py tokenizer.json > reference.json, where
tokenizer.json is Qwen2's.
"""
import json
import random
import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

WORDS = [
    "How are you?\nFine", "v1048576=3.14159 (2024-12-31)", "if (a!=b)->c[i]; // ok\n\n\treturn;",
    "a  b   c\t\td \n\n  e\r\n\r\nf   ", "中文，测试１2次。ｶﾅ 한국어", "👩\u200d🚀👍🏽", "   ", " ", "\n", "\r\n", " \n ",
    "\t\tx", "\t x", "  x", "x  ", " !x", "!x", "!!x", " !!x", "  !!x", "!\n\n x", " !\r\n\r\n  x", "!\n !",
    "don't I'LL we'Re 'tis it'ſ 's's", "'", "''", "'l", "'ll", "'lx", "'r", "'re", "'ree", "x'", "'x", " 's", " 'x",
    "'1", "1'd", "\u00a0x", "\u00a0\u00a0x", "\u3000中", "\u3000\u3000中", "\x85x", "\x0bx\x0c", "\u1680x", "\u180ex",
    "\u200bx", "\ufeffx", "\u2028x", "\u2028\n\u2028x", " \u2028\r\u2028", "½ ⅷ ٣ ３ 〇", "a\u0301b", "\u0301", "\u0301a", " \u0301a",
    "नमस्ते दुनिया", "สวัสดีชาวโลก", "ﬁ ǅ ª º", "\x00a\x00", "\x00\x00", "_a__b", "snake_case CamelCase", "a.b.c",
    "1234567", "1,234.5", "\n\n\n", " \n\n \n", "x\n", "x \n", "x\n y", "x \ny", "x  \n  y", "\r", "\rx", "\r\r\n x",
    "<|im_end|>", "<think>\n", "\U000105c0\U000105c1", "\U00010d40\U00010d41", "\u0378\u0378", "\U0010ffff a", "",
]


def nfc_inputs():
    """Every character with a canonical decomposition, taken apart; then random mixes of bases and marks."""
    rng = random.Random(1)
    chars = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    decomposable = [c for c in chars if unicodedata.normalize("NFD", c) != c and not 0xAC00 <= ord(c) <= 0xD7A3]
    marks = [c for c in chars if unicodedata.combining(c)]
    jamo = [chr(c) for c in range(0x1100, 0x1200)]
    for start in range(0, len(decomposable), 100):
        yield " ".join(decomposable[start : start + 100])
        yield unicodedata.normalize("NFD", " ".join(decomposable[start : start + 100]))
    yield " ".join(unicodedata.normalize("NFD", chr(c)) for c in range(0xAC00, 0xD7A4, 57))
    for _ in range(200):
        pools = ["abeioAEIO 中각가", decomposable, marks, marks, jamo]
        yield "".join(rng.choice(rng.choice(pools)) for _ in range(12))


def broken_inputs():
    """Sequences at every edge of UTF-8's table of well-formed bytes, and random ones."""
    rng = random.Random(2)
    edges = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
             0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    for a in edges:
        yield bytes([a])
        for b in edges:
            yield bytes([a, b])
    for _ in range(600):
        yield bytes(rng.choice(edges) for _ in range(rng.randrange(3, 9)))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pattern = json.load(file)["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    splitter = pre_tokenizers.Split(Regex(pattern), "isolated")
    nfc = normalizers.NFC().normalize_str
    words = [{"text": t, "words": [w for w, _ in splitter.pre_tokenize_str(t)]} for t in WORDS]
    forms = [{"text": t, "nfc": nfc(t)} for t in nfc_inputs()]
    repaired = [{"hex": b.hex(), "text": b.decode("utf-8", "replace")} for b in broken_inputs()]
    # One case a line, ASCII only: control characters and lone marks stay readable in diffs.
    print("{")
    for i, (name, cases) in enumerate((("words", words), ("nfc", forms), ("repaired", repaired))):
        print(f'"{name}": [')
        print(",\n".join(json.dumps(case) for case in cases))
        print("]" if i == 2 else "],")
    print("}")


main()
