// Packing and scalar decoding: against published vectors, against an independent reading of the
// formats, and packed against unpacked.
#include "kernels/api/pack.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/reference/decode.hpp"
#include "kernels/reference/pack.hpp"
#include "tests/unit/kernels/matrix_support.hpp"

namespace r1::kernels::test {
namespace {

std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

/// k of one block, three blocks and two real widths, as far as the type has whole blocks there.
std::vector<std::int64_t> widths(WeightType type) {
  const int block = format_info(type).block_values;
  std::vector<std::int64_t> out;
  for (const std::int64_t k : {1 * block, 3 * block, 896, 1536}) {
    if (k % block == 0) out.push_back(k);
  }
  return out;
}

std::uint64_t fnv1a(const std::byte* bytes, std::int64_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::int64_t i = 0; i < count; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

TEST_CASE("decode_gguf_row has the bits of the reference dequantization", "[pack]") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(R1_TEST_DATA "/quant")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    INFO(entry.path());
    std::ifstream in(entry.path());
    const nlohmann::json vector = nlohmann::json::parse(in);
    const std::vector<std::byte> raw = from_hex(vector["raw_hex"].get<std::string>());
    const std::vector<std::byte> expected = from_hex(vector["f32_hex"].get<std::string>());
    const auto k = vector["row_length"].get<std::int64_t>();
    const auto rows = vector["rows"].get<std::int64_t>();
    WeightType type = WeightType::f32;
    for (const WeightType candidate : all_types()) {
      if (vector["type"] == format_info(candidate).name) type = candidate;
    }
    REQUIRE(type != WeightType::f32);
    REQUIRE(static_cast<std::int64_t>(raw.size()) == rows * gguf_row_bytes(type, k));
    REQUIRE(static_cast<std::int64_t>(expected.size()) == rows * k * 4);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<float> out(static_cast<std::size_t>(k));
      decode_gguf_row(type, raw.data() + row * gguf_row_bytes(type, k), k, out.data());
      CHECK(std::memcmp(out.data(), expected.data() + row * k * 4,
                        static_cast<std::size_t>(k) * 4) == 0);
    }
  }
  CHECK(files == kWeightTypeCount - 1);
}

TEST_CASE("decode_gguf_row agrees with an independent reading of each format", "[pack]") {
  std::mt19937 random(1);
  for (const WeightType type : all_types()) {
    INFO(format_info(type).name);
    for (const Fill fill : kFills) {
      const std::int64_t k = 3 * 256;
      const auto rows = make_rows(type, 4, k, fill, random);
      for (int row = 0; row < 4; ++row) {
        const std::byte* at = rows.data() + row * gguf_row_bytes(type, k);
        std::vector<float> out(k);
        decode_gguf_row(type, at, k, out.data());
        std::vector<float> expected(k);
        for (std::int64_t i = 0; i < k; ++i) {
          const auto terms = reference::decode_terms<float>(type, at, i);
          expected[static_cast<std::size_t>(i)] = terms.product + terms.addend;
        }
        CHECK(same_bits(out.data(), expected.data(), k));
      }
    }
  }
}

TEST_CASE("every f16 bit pattern converts exactly", "[pack]") {
  std::vector<std::uint16_t> bits(0x10000);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> out(bits.size());
  const auto* row = reinterpret_cast<const std::byte*>(bits.data());
  decode_gguf_row(WeightType::f16, row, 0x10000, out.data());
  for (std::int64_t i = 0; i < 0x10000; ++i) {
    const float expected = reference::decode_terms<float>(WeightType::f16, row, i).product;
    const float got = out[static_cast<std::size_t>(i)];
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(got));
    } else {
      REQUIRE(same_bits(&got, &expected, 1));
    }
  }
}

TEST_CASE("a packed row decodes to the bits of the GGUF row", "[pack]") {
  std::mt19937 random(2);
  for (const WeightType type : all_types()) {
    INFO(format_info(type).name);
    for (const std::int64_t k : widths(type)) {
      for (const Fill fill : kFills) {
        for (const std::int64_t n : {1, 2, 7, 15, 16, 33}) {
          const auto rows = make_rows(type, n, k, fill, random);
          const GuardedBytes packed = pack_rows(type, rows, n, k);
          std::vector<float> expected(static_cast<std::size_t>(k));
          std::vector<float> out(static_cast<std::size_t>(k));
          for (std::int64_t row = 0; row < n; ++row) {
            decode_gguf_row(type, rows.data() + row * gguf_row_bytes(type, k), k, expected.data());
            decode_packed_row(type, packed.data(), k, row, out.data());
            REQUIRE(same_bits(out.data(), expected.data(), k));
          }
        }
      }
    }
  }
}

TEST_CASE("rows that a panel lacks decode to zeros", "[pack]") {
  std::mt19937 random(3);
  for (const WeightType type : all_types()) {
    INFO(format_info(type).name);
    for (std::int64_t n = 1; n < kPanelRows; ++n) {
      const auto rows = make_rows(type, n, 256, Fill::random, random);
      const GuardedBytes packed = pack_rows(type, rows, n, 256);
      std::vector<float> out(256);
      for (std::int64_t row = n; row < kPanelRows; ++row) {
        decode_packed_row(type, packed.data(), 256, row, out.data());
        for (const float value : out) REQUIRE(value == 0.0F);
      }
    }
  }
}

TEST_CASE("packing reads GGUF rows of any alignment and not past their end", "[pack]") {
  std::mt19937 random(4);
  for (const WeightType type : all_types()) {
    INFO(format_info(type).name);
    const auto rows = make_rows(type, 3, 256, Fill::random, random);
    const auto bytes = static_cast<std::int64_t>(rows.size());
    const GuardedBytes source(bytes);
    std::memcpy(source.data(), rows.data(), rows.size());
    const GuardedBytes packed(panel_bytes(type, 256));
    pack_panel(type, source.data(), 3, 256, packed.data());
    const GuardedBytes expected = pack_rows(type, rows, 3, 256);
    CHECK(std::memcmp(packed.data(), expected.data(),
                      static_cast<std::size_t>(panel_bytes(type, 256))) == 0);
    std::vector<float> out(256);
    decode_gguf_row(type, source.data() + 2 * gguf_row_bytes(type, 256), 256, out.data());
  }
}

TEST_CASE("a panel has the bytes of the layout's definition", "[pack]") {
  std::mt19937 random(6);
  for (const WeightType type : all_types()) {
    const int block = format_info(type).block_values;
    for (const int blocks : {1, 2, 3, 4, 5, 7, 8, 15, 17}) {
      const std::int64_t k = std::int64_t{blocks} * block;
      for (std::int64_t n = 1; n <= kPanelRows; ++n) {
        INFO(format_info(type).name << ", k " << k << ", rows " << n);
        // Neither the source nor the panel is aligned more than it has to be, and what the panel
        // held before must not show.
        const GuardedBytes rows(n * gguf_row_bytes(type, k));
        for (std::int64_t i = 0; i < n * gguf_row_bytes(type, k); ++i) {
          rows.data()[i] = static_cast<std::byte>(random() & 0xff);
        }
        const auto bytes = static_cast<std::size_t>(panel_bytes(type, k));
        const GuardedBytes panel(panel_bytes(type, k));
        std::memset(panel.data(), 0xa5, bytes);
        pack_panel(type, rows.data(), n, k, panel.data());
        std::vector<std::byte> expected(bytes);
        reference::pack_panel(type, rows.data(), n, k, expected.data());
        REQUIRE(std::memcmp(panel.data(), expected.data(), bytes) == 0);
      }
    }
  }
}

TEST_CASE("packed panels are as large as the file's rows", "[pack]") {
  for (const WeightType type : all_types()) {
    INFO(format_info(type).name);
    for (const std::int64_t k : {256, 512, 768, 1536, 8960, 18944, 29440}) {
      const std::int64_t file = kPanelRows * gguf_row_bytes(type, k);
      CHECK(panel_bytes(type, k) == (file + 63) / 64 * 64);
      if (k >= 1024) {
        CHECK(static_cast<double>(panel_bytes(type, k)) <= 1.01 * static_cast<double>(file));
      }
    }
  }
}

TEST_CASE("sizes are 64-bit", "[pack]") {
  // A row of 2^33 values, and a vocabulary's worth of panels of 8192 values.
  CHECK(gguf_row_bytes(WeightType::f32, std::int64_t{1} << 33) == std::int64_t{1} << 35);
  CHECK(panel_bytes(WeightType::f32, std::int64_t{1} << 33) == std::int64_t{1} << 39);
  CHECK(panel_bytes(WeightType::q4_k, std::int64_t{1} << 33) ==
        (std::int64_t{1} << 33) / 256 * 144 * 16);
  CHECK(encoded_row_bytes(ActivationEncoding::f32, std::int64_t{1} << 33) == std::int64_t{1} << 35);
  CHECK(encoded_row_bytes(ActivationEncoding::q8, std::int64_t{1} << 33) ==
        (std::int64_t{1} << 33) / 32 * (32 + 4 + 4));
}

TEST_CASE("the packed layout does not change unnoticed", "[pack]") {
  // Packed files are kept on disk (pack cache). A change here needs a new layout version there. The
  // hashes come from a separate numpy script that follows docs/kernels.md.
  std::mt19937 random(5);
  constexpr std::uint64_t kExpected[kWeightTypeCount] = {
      0x03d52c1682bba807,  // F32
      0xf0a5238a788dda48,  // F16
      0xcac98f25ba40db44,  // BF16
      0x8257da860b50c4c8,  // Q4_0
      0xc14895e6ed15cc5c,  // Q4_1
      0xbf66096b6561ed48,  // Q5_0
      0x1e42c46ba37532f2,  // Q5_1
      0xd153de1916ec4667,  // Q8_0
      0x63338c6a31b1c680,  // Q2_K
      0x90cee7c8077403d9,  // Q3_K
      0x5668af5144dce2ae,  // Q4_K
      0x47371c47cfa3a0ec,  // Q5_K
      0x09d8bdb528bd1d20,  // Q6_K
      0x0e5db8e149ee16df,  // IQ4_NL
      0xa2f286d2dd72332c,  // IQ4_XS
      0x5c980aa08dfbf032,  // TQ2_0
  };
  for (const WeightType type : all_types()) {
    INFO(format_info(type).name);
    // Bytes from the generator itself, whose sequence the standard fixes.
    std::vector<std::byte> rows(static_cast<std::size_t>(17 * gguf_row_bytes(type, 512)));
    for (std::byte& byte : rows) byte = static_cast<std::byte>(random() >> 24);
    const GuardedBytes packed = pack_rows(type, rows, 17, 512);
    const std::uint64_t hash = fnv1a(packed.data(), 2 * panel_bytes(type, 512));
    CHECK(hash == kExpected[static_cast<int>(type)]);
  }
}

}  // namespace r1::kernels::test
