// Reads an image and writes it again, leaving out, adding or replacing on the way.
#include "tests/support/edited_model.hpp"

#include <deque>

#include "libr1/gguf/reader.hpp"

namespace r1::support {
namespace {

/// Fills `writer` with the changed copy; `storage` keeps the tensors' bytes.
void copy(const std::vector<std::byte>& image, const ModelEdit& edit, gguf::Writer& writer,
          std::deque<std::vector<std::byte>>& storage) {
  const auto file = gguf::Reader::from_memory(image, "original");
  for (const auto& key : file.keys()) {
    if (!edit.keys.contains(key) && !edit.drop_keys.contains(key)) writer.add(key, *file.get(key));
  }
  for (const auto& [key, value] : edit.keys) writer.add(key, value);
  for (const auto& tensor : file.tensors()) {
    if (tensor.name == edit.drop) continue;
    storage.emplace_back(static_cast<std::size_t>(tensor.bytes));
    file.read(tensor, 0, storage.back());
    auto shape = tensor.shape;
    if (tensor.name == edit.reshape) shape = {shape[0] / 2, shape[1] * 2};
    writer.add_tensor(tensor.name, shape, tensor.type, storage.back());
  }
  if (!edit.extra) return;
  storage.emplace_back(16);
  writer.add_tensor("blk.0.surprise", {4}, kernels::WeightType::f32, storage.back());
}

}  // namespace

std::vector<std::byte> edited_model(const std::vector<std::byte>& image, const ModelEdit& edit) {
  gguf::Writer writer;
  std::deque<std::vector<std::byte>> storage;
  copy(image, edit, writer, storage);
  return writer.image();
}

std::vector<std::string> write_split_model(const std::vector<std::byte>& image,
                                           const std::string& prefix, std::int64_t tensors_max) {
  gguf::Writer writer;
  std::deque<std::vector<std::byte>> storage;
  copy(image, {}, writer, storage);
  return writer.write_split(prefix, {.tensors_max = tensors_max});
}

}  // namespace r1::support
