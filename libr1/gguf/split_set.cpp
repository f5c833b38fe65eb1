// Finding, opening and cross-checking the parts of a split set.
#include "libr1/gguf/split_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "libr1/gguf/limits.hpp"
#include "libr1/gguf/message.hpp"

namespace r1::gguf {
namespace {

constexpr std::string_view kExtension = ".gguf";
constexpr std::size_t kDigits = 5;
constexpr std::size_t kMissingShown = 8;

/// What a file says about the set it belongs to.
struct SplitKeys {
  std::int64_t number = 0;   ///< split.no, counts from 0
  std::int64_t count = 1;    ///< split.count
  std::int64_t tensors = 0;  ///< split.tensors.count, of the whole set
};

[[noreturn]] void fail(const std::string& path, const std::string& text,
                       ErrorCode code = ErrorCode::bad_file) {
  throw Error(code, fmt::format("{}: {}", path, text));
}

std::optional<int> parse_digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::int64_t required(const Part& part, std::string_view key) {
  const auto value = part.metadata.get_int(part.source, key);
  if (!value) {
    fail(part.source.name(), fmt::format("is a part of a split set but has no key '{}'", key));
  }
  return *value;
}

SplitKeys split_keys(const Part& part) {
  SplitKeys keys;
  keys.count = part.metadata.get_int(part.source, "split.count").value_or(1);
  if (keys.count < 1 || keys.count > kPartsMax) {
    fail(part.source.name(),
         fmt::format("split.count: expected 1 to {} parts, got {}", kPartsMax, keys.count));
  }
  if (keys.count == 1) return keys;
  keys.number = required(part, "split.no");
  keys.tensors = required(part, "split.tensors.count");
  if (keys.number < 0 || keys.number >= keys.count) {
    fail(part.source.name(),
         fmt::format("split.no: expected 0 to {}, got {}", keys.count - 1, keys.number));
  }
  return keys;
}

/// The name that tells where the other parts are: the one given, or the one that a symbolic link
/// leads to.
std::optional<PartName> set_name(const std::string& path) {
  if (auto name = parse_part_name(path)) return name;
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? std::nullopt : parse_part_name(real.string());
}

bool same_bytes(const Source& a, std::int64_t a_begin, const Source& b, std::int64_t b_begin,
                std::int64_t bytes) {
  std::array<std::byte, 4096> a_block;
  std::array<std::byte, 4096> b_block;
  for (std::int64_t done = 0; done < bytes;) {
    const auto count =
        static_cast<std::size_t>(std::min<std::int64_t>(bytes - done, a_block.size()));
    const std::size_t a_got = a.read_at(a_begin + done, std::span(a_block).first(count));
    const std::size_t b_got = b.read_at(b_begin + done, std::span(b_block).first(count));
    if (a_got != count || b_got != count) return false;
    if (!std::equal(a_block.begin(), a_block.begin() + static_cast<std::ptrdiff_t>(count),
                    b_block.begin())) {
      return false;
    }
    done += static_cast<std::int64_t>(count);
  }
  return true;
}

bool same_value(const Part& a, const MetadataEntry& x, const Part& b, const MetadataEntry& y) {
  return x.type == y.type && x.element == y.element && x.end - x.begin == y.end - y.begin &&
         same_bytes(a.source, x.begin, b.source, y.begin, x.end - x.begin);
}

/// Part `number` (from 1) must say that it is that part of the set that `first` opens.
void check_part(const Part& part, const Part& first, int number, const SplitKeys& set) {
  const SplitKeys keys = split_keys(part);
  const std::string& name = part.source.name();
  const std::string other = fmt::format("is a part of another set than {}", first.source.name());
  if (keys.count != set.count) {
    fail(name, fmt::format("{}: split.count: expected {}, got {}", other, set.count, keys.count));
  }
  if (keys.number != number - 1) {
    fail(name,
         fmt::format("was renamed: by its name it is part {}, by its split.no it is part {} of {}",
                     number, keys.number + 1, keys.count));
  }
  if (keys.tensors != set.tensors) {
    fail(name, fmt::format("{}: split.tensors.count: expected {}, got {}", other, set.tensors,
                           keys.tensors));
  }
  for (const MetadataEntry& entry : part.metadata.entries()) {
    // Alignment and part number are each file's own.
    if (entry.key == "split.no" || entry.key == "general.alignment") continue;
    const MetadataEntry* same = first.metadata.find(entry.key);
    if (same && !same_value(part, entry, first, *same)) {
      fail(name, fmt::format("{}: key {}: expected the same value in both, got different ones",
                             other, quote_name(entry.key)));
    }
  }
}

void check_tensors(const std::vector<Part>& parts, std::int64_t expected) {
  std::vector<std::string_view> names;
  std::vector<const TensorInfo*> tensors;
  for (const Part& part : parts) {
    for (const TensorInfo& tensor : part.tensors) {
      names.push_back(tensor.name);
      tensors.push_back(&tensor);
    }
  }
  if (const auto twice = NameIndex(names).duplicate()) {
    const TensorInfo& a = *tensors[twice->first];
    const TensorInfo& b = *tensors[twice->second];
    fail(parts[static_cast<std::size_t>(b.file)].source.name(),
         fmt::format(
             "tensor {}: expected every tensor in one part, got it in {} too: one of them is from "
             "another set",
             quote_name(b.name), parts[static_cast<std::size_t>(a.file)].source.name()));
  }
  if (static_cast<std::int64_t>(names.size()) != expected) {
    std::vector<std::string> counts;
    for (const Part& part : parts) counts.push_back(fmt::format("{}", part.tensors.size()));
    fail(parts.front().source.name(),
         fmt::format("split.tensors.count: expected {} tensors in the {} parts, got {} ({})",
                     expected, parts.size(), names.size(), listed(counts, kMissingShown)));
  }
}

/// Throws a list of the parts that are not there.
void check_present(const std::string& path, const std::vector<std::string>& part_paths) {
  std::vector<std::string> missing;
  for (const std::string& part : part_paths) {
    std::error_code error;
    if (!std::filesystem::exists(part, error) && !error) {
      missing.push_back(std::filesystem::path(part).filename().string());
    }
  }
  if (missing.empty()) return;
  fail(path, fmt::format("expected {} parts in this folder, got {}; missing: {}", part_paths.size(),
                         part_paths.size() - missing.size(), listed(missing, kMissingShown)));
}

/// Name and keys of the file that was opened must tell the same story.
PartName checked_name(const std::string& path, const SplitKeys& keys) {
  const auto name = set_name(path);
  const auto count = static_cast<int>(keys.count);
  const auto number = static_cast<int>(keys.number) + 1;
  if (!name) {
    fail(path, fmt::format(
                   "was renamed: it is part {} of {} of a split set; expected a name that ends in "
                   "{}",
                   number, count, part_path("", number, count)));
  }
  if (name->count != count || name->number != number) {
    fail(path,
         fmt::format("was renamed: by its name it is part {} of {}, by split.no and split.count it "
                     "is part {} of {}",
                     name->number, name->count, number, count));
  }
  return *name;
}

}  // namespace

std::optional<PartName> parse_part_name(std::string_view path) {
  // From the back: ".gguf", five digits, "-of-", five digits, "-".
  if (!path.ends_with(kExtension)) return std::nullopt;
  path.remove_suffix(kExtension.size());
  constexpr std::string_view kOf = "-of-";
  constexpr std::size_t kTail = 1 + kDigits + kOf.size() + kDigits;
  if (path.size() <= kTail) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kTail);
  if (tail.front() != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf) return std::nullopt;
  const auto number = parse_digits(tail.substr(1, kDigits));
  const auto count = parse_digits(tail.substr(1 + kDigits + kOf.size()));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return PartName{std::string(path.substr(0, path.size() - kTail)), *number, *count};
}

std::string part_path(const std::string& prefix, int number, int count) {
  return fmt::format("{}-{:05}-of-{:05}{}", prefix, number, count, kExtension);
}

std::vector<Part> open_parts(const std::string& path, base::MappedFile::Mode mode) {
  std::vector<Part> parts;
  Part opened = read_part(Source(base::MappedFile(path, mode)), 0);
  const SplitKeys keys = split_keys(opened);
  if (keys.count == 1) {
    const auto name = parse_part_name(path);
    if (name && name->count > 1) {
      fail(path,
           fmt::format("was renamed: by its name it is part {} of {}, but it has no split.count "
                       "above 1; a whole model needs another name",
                       name->number, name->count));
    }
    parts.push_back(std::move(opened));
    return parts;
  }
  const PartName name = checked_name(path, keys);
  std::vector<std::string> paths;
  for (int number = 1; number <= name.count; ++number) {
    paths.push_back(number == name.number ? path : part_path(name.prefix, number, name.count));
  }
  check_present(path, paths);
  for (int number = 1; number <= name.count; ++number) {
    if (number == name.number) {
      for (TensorInfo& tensor : opened.tensors) tensor.file = number - 1;
      parts.push_back(std::move(opened));
    } else {
      const std::string& other = paths[static_cast<std::size_t>(number - 1)];
      parts.push_back(read_part(Source(base::MappedFile(other, mode)), number - 1));
    }
    // The first part is the reference, whichever was opened.
    check_part(parts.back(), parts.front(), number, split_keys(parts.front()));
  }
  check_tensors(parts, split_keys(parts.front()).tensors);
  return parts;
}

}  // namespace r1::gguf
