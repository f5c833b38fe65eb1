// Static facts of the weight types, collected from formats/list.hpp.
#include "kernels/api/weight_type.hpp"
#include "kernels/formats/list.hpp"

namespace r1::kernels {
namespace {

struct InfoTable {
  FormatInfo entries[kWeightTypeCount];
};

constexpr InfoTable collect() {
  InfoTable table{};
  for_each_format<PlainFormats, BlockFormats, SuperFormats, TableFormats>(
      [&]<class Format>() { table.entries[static_cast<int>(Format::kType)] = Format::kInfo; });
  return table;
}

constexpr InfoTable kTable = collect();
static_assert(PlainFormats::kCount + BlockFormats::kCount + SuperFormats::kCount +
                  TableFormats::kCount ==
              kWeightTypeCount);

}  // namespace

const FormatInfo& format_info(WeightType type) noexcept {
  return kTable.entries[static_cast<int>(type)];
}

bool weight_type_from_gguf(std::uint32_t gguf_id, WeightType& out) noexcept {
  for (int i = 0; i < kWeightTypeCount; ++i) {
    if (kTable.entries[i].gguf_id == gguf_id) {
      out = static_cast<WeightType>(i);
      return true;
    }
  }
  return false;
}

}  // namespace r1::kernels
