// Bounds that this project puts on GGUF files, for reader and writer alike. They are far above
// every real file and keep the cost of a hostile one small.
#pragma once

#include <cstdint>

namespace r1::gguf {

/// Keys are at most 2^16 - 1 bytes long (gguf.md, gguf_metadata_kv_t).
inline constexpr std::uint64_t kKeyBytesMax = 65535;
/// Tensor names are at most 64 bytes long (gguf.md, gguf_tensor_info_t).
inline constexpr std::uint64_t kTensorNameBytesMax = 64;
/// One string value; the longest real ones, chat templates, are below 100 KB.
inline constexpr std::uint64_t kStringBytesMax = std::uint64_t{16} << 20;
/// Elements of one array; the longest real ones, merge lists, are below 1 million.
inline constexpr std::uint64_t kArrayElementsMax = std::uint64_t{1} << 22;
/// Metadata keys of one file; real files have about 40.
inline constexpr std::uint64_t kKeysMax = 1 << 16;
/// Tensors of one file; real files have up to a few thousand.
inline constexpr std::uint64_t kTensorsMax = 1 << 16;
/// All keys and tensor names of one file together.
inline constexpr std::uint64_t kNameBytesTotalMax = std::uint64_t{8} << 20;
/// Header, metadata and tensor table together; Qwen2's vocabulary and merges take 6 MB, Gemma's 16
/// MB.
inline constexpr std::int64_t kHeaderBytesMax = std::int64_t{64} << 20;
/// general.alignment is a multiple of 8 (gguf.md), and r1 wants a power of two.
inline constexpr std::uint64_t kAlignmentMin = 8;
/// Larger alignments only make holes.
inline constexpr std::uint64_t kAlignmentMax = std::uint64_t{1} << 20;
/// Used when a file has no general.alignment (gguf.md).
inline constexpr std::uint64_t kAlignmentDefault = 32;
/// Parts of a split set; each is an open file.
inline constexpr std::int64_t kPartsMax = 1000;

}  // namespace r1::gguf
