"""Adds `general.sampling.temp = 0` to a GGUF file and copies everything else as it is.

The converter and the quantizer that wrote tiny-r1's GGUF files know nothing of sampling, so an engine would
use its defaults for reasoning models (temperature 0.6) on a model that is meant for greedy decoding.

    python3 set_greedy.py tiny-r1-Q8_0.gguf out.gguf        # needs the package gguf
"""
import sys

from gguf import GGUFReader, GGUFValueType, GGUFWriter

KEY = "general.sampling.temp"


def fields(reader):
    """Metadata of a file without the reader's own pseudo fields."""
    return {n: (f.types, f.contents()) for n, f in reader.fields.items() if not n.startswith("GGUF.")}


def main(source, target):
    reader = GGUFReader(source)
    metadata = fields(reader)
    writer = GGUFWriter(target, metadata["general.architecture"][1])
    for name, (types, value) in metadata.items():
        if name != "general.architecture":
            writer.add_key_value(name, value, types[0], types[-1] if len(types) > 1 else None)
    writer.add_key_value(KEY, 0.0, GGUFValueType.FLOAT32)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    copy = GGUFReader(target)
    copied = fields(copy)
    assert copied.pop(KEY) == ([GGUFValueType.FLOAT32], 0.0)
    assert list(copied.items()) == list(metadata.items())
    assert len(copy.tensors) == len(reader.tensors)
    for a, b in zip(reader.tensors, copy.tensors):
        assert (a.name, a.tensor_type, list(a.shape)) == (b.name, b.tensor_type, list(b.shape))
        assert a.data.tobytes() == b.data.tobytes(), a.name


if __name__ == "__main__":
    main(*sys.argv[1:])
