// Reader: the parts of a model as one table of metadata and tensors. Parsing is in part.cpp and
// below.
//
// A file's bytes are always copied with pread, also from mapped files: a mapping of a file that
// shrinks, or lies on a failing disk or network share, kills the process with SIGBUS; pread gives
// an error that can be reported.
#include "libr1/gguf/reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "libr1/gguf/message.hpp"
#include "libr1/gguf/metadata.hpp"
#include "libr1/gguf/name_index.hpp"
#include "libr1/gguf/part.hpp"
#include "libr1/gguf/split_set.hpp"
#include "r1/error.hpp"

namespace r1::gguf {

struct Reader::Impl {
  explicit Impl(std::vector<Part> all, std::string path)
      : name(std::move(path)), parts(std::move(all)) {
    for (Part& part : parts) {
      tensors.insert(tensors.end(), std::make_move_iterator(part.tensors.begin()),
                     std::make_move_iterator(part.tensors.end()));
      part.tensors.clear();
    }
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
    index = NameIndex(names);
  }

  /// The first part carries the model's metadata.
  const Part& first() const { return parts.front(); }
  const Source& source(const TensorInfo& tensor) const {
    return parts.at(static_cast<std::size_t>(tensor.file)).source;
  }

  std::string name;
  std::vector<std::byte> header;  ///< what the part reads from when `make` is given
  MakeBytes make;                 ///< empty: the parts hold the tensors
  std::vector<Part> parts;
  std::vector<TensorInfo> tensors;
  NameIndex index;
};

namespace {

void check_range(const std::string& file, const TensorInfo& tensor, std::int64_t begin,
                 std::uint64_t bytes) {
  if (begin >= 0 && begin <= tensor.bytes &&
      bytes <= static_cast<std::uint64_t>(tensor.bytes - begin)) {
    return;
  }
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: tensor {}: expected a range within its {} bytes, got {} bytes from byte {}",
                  file, quote_name(tensor.name), tensor.bytes, bytes, begin));
}

}  // namespace

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Reader Reader::open(const std::string& path, Access access) {
  const auto mode =
      access == Access::map ? base::MappedFile::Mode::map : base::MappedFile::Mode::read;
  return Reader(std::make_unique<Impl>(open_parts(path, mode), path));
}

Reader Reader::from_memory(std::span<const std::byte> image, const std::string& name) {
  std::vector<Part> parts;
  parts.push_back(read_part(Source(image, name), 0));
  return Reader(std::make_unique<Impl>(std::move(parts), name));
}

Reader Reader::from_generator(std::vector<std::byte> header, MakeBytes make,
                              const std::string& name) {
  std::vector<Part> parts;
  // The tensors lie where the header says, however far behind it: such a file ends nowhere.
  parts.push_back(read_part(Source(header, name, std::numeric_limits<std::int64_t>::max()), 0));
  auto impl = std::make_unique<Impl>(std::move(parts), name);
  // Moving a vector leaves its bytes where the part's source sees them.
  impl->header = std::move(header);
  impl->make = std::move(make);
  return Reader(std::move(impl));
}

const std::string& Reader::name() const { return impl_->name; }

bool Reader::has(std::string_view key) const {
  return impl_->first().metadata.find(key) != nullptr;
}

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> out;
  for (const MetadataEntry& entry : impl_->first().metadata.entries()) out.push_back(entry.key);
  return out;
}

std::optional<std::int64_t> Reader::get_int(std::string_view key) const {
  return impl_->first().metadata.get_int(impl_->first().source, key);
}

std::optional<double> Reader::get_float(std::string_view key) const {
  return impl_->first().metadata.get_float(impl_->first().source, key);
}

std::optional<bool> Reader::get_bool(std::string_view key) const {
  return impl_->first().metadata.get_bool(impl_->first().source, key);
}

std::optional<std::string> Reader::get_string(std::string_view key) const {
  return impl_->first().metadata.get_string(impl_->first().source, key);
}

std::optional<std::vector<std::string>> Reader::get_strings(std::string_view key) const {
  return impl_->first().metadata.get_strings(impl_->first().source, key);
}

std::optional<std::vector<std::int64_t>> Reader::get_ints(std::string_view key) const {
  return impl_->first().metadata.get_ints(impl_->first().source, key);
}

std::optional<std::vector<double>> Reader::get_floats(std::string_view key) const {
  return impl_->first().metadata.get_floats(impl_->first().source, key);
}

std::optional<Value> Reader::get(std::string_view key) const {
  return impl_->first().metadata.get(impl_->first().source, key);
}

const std::vector<TensorInfo>& Reader::tensors() const { return impl_->tensors; }

const TensorInfo* Reader::find(std::string_view name) const {
  const auto at = impl_->index.find(name);
  return at ? &impl_->tensors[*at] : nullptr;
}

void Reader::read(const TensorInfo& tensor, std::int64_t begin, std::span<std::byte> out) const {
  check_range(name(), tensor, begin, out.size());
  if (impl_->make) {
    impl_->make(tensor, begin, out);
    return;
  }
  const Source& source = impl_->source(tensor);
  const std::int64_t at = tensor.offset + begin;
  const std::size_t got = source.read_at(at, out);
  if (got == out.size()) return;
  throw Error(
      ErrorCode::io,
      fmt::format("{}: tensor {}: expected {} bytes at byte {}, got {}: the file shrank from {} to "
                  "{} bytes after it was opened",
                  source.name(), quote_name(tensor.name), out.size(), at, got, source.size(),
                  source.current_size()));
}

std::span<const std::byte> Reader::view(const TensorInfo& tensor) const {
  const std::span<const std::byte> all = impl_->source(tensor).view();
  if (all.empty()) return {};
  return all.subspan(static_cast<std::size_t>(tensor.offset),
                     static_cast<std::size_t>(tensor.bytes));
}

void Reader::release(const TensorInfo& tensor, std::int64_t begin, std::int64_t bytes) const {
  check_range(name(), tensor, begin, static_cast<std::uint64_t>(bytes));
  impl_->source(tensor).release(tensor.offset + begin, bytes);
}

}  // namespace r1::gguf
