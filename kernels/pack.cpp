// GGUF rows to packed panels, and scalar decoding of both. Portable code without instruction-set
// flags; the layout is documented in formats/panel_layout.hpp and docs/kernels.md.
#include "kernels/api/pack.hpp"

#include "kernels/formats/list.hpp"
#include "kernels/formats/panel_layout.hpp"
#include "kernels/generic/pack_panel.hpp"

namespace r1::kernels {
namespace {

const std::uint8_t* bytes_of(const std::byte* p) {
  return reinterpret_cast<const std::uint8_t*>(p);
}
std::uint8_t* bytes_of(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }

template <class Format>
void decode_file_row(const std::uint8_t* row, std::int64_t k, float* out) {
  if constexpr (kIsPlain<Format>) {
    for (std::int64_t i = 0; i < k; ++i) out[i] = Format::decode(row + i * Format::kValueBytes);
  } else {
    for (std::int64_t i = 0; i < k; i += Format::kInfo.block_values) {
      std::uint8_t codes[kBlockValuesMax];
      std::uint8_t meta[kBlockBytesMax];
      Format::split(row + i / Format::kInfo.block_values * Format::kInfo.block_bytes, codes, meta);
      Format::decode(codes, meta, out + i);
    }
  }
}

/// Calls body with the format of `type`.
template <class Body>
void with_format(WeightType type, const Body& body) {
  for_each_format<PlainFormats, BlockFormats, SuperFormats, TableFormats>([&]<class Format>() {
    if (Format::kType == type) body.template operator()<Format>();
  });
}

template <class Format>
void decode_panel_row(const std::uint8_t* panel, int row, std::int64_t k, float* out) {
  if constexpr (kIsPlain<Format>) {
    for (std::int64_t i = 0; i < k; ++i) {
      out[i] = Format::decode(panel + (i * kPanelRows + row) * Format::kValueBytes);
    }
  } else {
    constexpr int kValues = Format::kInfo.block_values;
    const std::uint8_t* meta_in = panel + panel_code_bytes<Format>(k);
    for (std::int64_t i = 0; i < k; i += kValues) {
      std::uint8_t codes[kBlockValuesMax];
      std::uint8_t meta[kBlockBytesMax];
      for (int v = 0; v < kValues; ++v) {
        const std::int64_t block = (i + v) / 32;
        codes[v] = static_cast<std::uint8_t>(
            get_code<Format::kBits>(panel + block * block_code_bytes(Format::kBits), row, v % 32));
      }
      get_meta<Format>(meta_in, row, meta);
      Format::decode(codes, meta, out + i);
      meta_in += kBlockMetaBytes<Format>;
    }
  }
}

}  // namespace

std::int64_t gguf_row_bytes(WeightType type, std::int64_t k) noexcept {
  const FormatInfo& info = format_info(type);
  return k / info.block_values * info.block_bytes;
}

std::int64_t panel_bytes(WeightType type, std::int64_t k) noexcept {
  std::int64_t bytes = 0;
  with_format(type, [&]<class Format>() { bytes = panel_total_bytes<Format>(k); });
  return bytes;
}

void pack_panel(WeightType type, const std::byte* rows, std::int64_t row_count, std::int64_t k,
                std::byte* panel) noexcept {
  with_format(type, [&]<class Format>() {
    if constexpr (kIsPlain<Format>) {
      pack_plain<Format>(bytes_of(rows), row_count, k, bytes_of(panel));
    } else {
      pack_codes<Format>(bytes_of(rows), row_count, k, bytes_of(panel));
    }
  });
}

void decode_gguf_row(WeightType type, const std::byte* row, std::int64_t k, float* out) noexcept {
  with_format(type, [&]<class Format>() { decode_file_row<Format>(bytes_of(row), k, out); });
}

std::int64_t encoded_row_bytes(ActivationEncoding encoding, std::int64_t k) noexcept {
  return encoding == ActivationEncoding::q8 ? q8_row_bytes(k) : round_up_64(k * 4);
}

void decode_packed_row(WeightType type, const std::byte* panels, std::int64_t k, std::int64_t row,
                       float* out) noexcept {
  with_format(type, [&]<class Format>() {
    const std::int64_t panel = row / kPanelRows;
    decode_panel_row<Format>(bytes_of(panels) + panel * panel_total_bytes<Format>(k),
                             static_cast<int>(row % kPanelRows), k, out);
  });
}

}  // namespace r1::kernels
