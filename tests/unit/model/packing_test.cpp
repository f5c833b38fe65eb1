// Packing by a team: every panel once and where it belongs, whatever the number of threads; what
// runs beside it; files that fail half way.
#include "libr1/model/packing.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "kernels/api/pack.hpp"
#include "libr1/gguf/writer.hpp"
#include "r1/error.hpp"
#include "tests/support/temp_folder.hpp"

using namespace r1;
using model::PackJob;

namespace {

/// Rows of the large matrix: several tasks, and a last panel that is not full.
constexpr std::int64_t kManyRows = 20003;

/// A header whose tensors are made from their name and position: nothing to store, and ranges that
/// are read twice or at the wrong place give other bytes.
gguf::Reader patterned_file() {
  gguf::Writer writer;
  const auto made_when_read = [](const gguf::Writer::Emit&) {};
  writer.add_tensor("large", {512, kManyRows}, kernels::WeightType::q8_0, made_when_read);
  writer.add_tensor("small", {256, 3}, kernels::WeightType::q4_k, made_when_read);
  writer.add_tensor("plain", {77, 40}, kernels::WeightType::f16, made_when_read);
  return gguf::Reader::from_generator(
      writer.header(),
      [](const gguf::TensorInfo& tensor, std::int64_t begin, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          const std::int64_t at = begin + static_cast<std::int64_t>(i);
          out[i] = static_cast<std::byte>((at * 31 + at / 257 + tensor.name[0]) & 0xff);
        }
      },
      "pattern");
}

struct Plan {
  std::vector<PackJob> jobs;
  std::int64_t bytes = 0;
};

Plan plan_of(const gguf::Reader& file) {
  Plan plan;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    plan.jobs.push_back({&tensor, tensor.shape[1], tensor.shape[0], plan.bytes});
    plan.bytes += packed_bytes(plan.jobs.back());
  }
  return plan;
}

/// The whole tensor read at once, panel by panel.
std::vector<std::byte> packed_simply(const gguf::Reader& file, const Plan& plan) {
  std::vector<std::byte> out(static_cast<std::size_t>(plan.bytes));
  for (const PackJob& job : plan.jobs) {
    const kernels::WeightType type = job.tensor->type;
    std::vector<std::byte> raw(static_cast<std::size_t>(job.tensor->bytes));
    file.read(*job.tensor, 0, raw);
    for (std::int64_t row = 0; row < job.n; row += 16) {
      kernels::pack_panel(type, raw.data() + row * kernels::gguf_row_bytes(type, job.k),
                          std::min<std::int64_t>(16, job.n - row), job.k,
                          out.data() + job.offset + row / 16 * kernels::panel_bytes(type, job.k));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every panel is packed once and at its place, by any number of threads") {
  const gguf::Reader file = patterned_file();
  const Plan plan = plan_of(file);
  const std::vector<std::byte> expected = packed_simply(file, plan);
  for (const int threads : {1, 2, 3, 7}) {
    base::ThreadTeam team(threads);
    std::vector<std::byte> packed(expected.size(), std::byte{0xa5});
    pack_matrices(file, plan.jobs, packed.data(), team, {}, {});
    CHECK((packed == expected));
  }
}

TEST_CASE("progress rises from 0 to 1 in few steps, on the calling thread") {
  const gguf::Reader file = patterned_file();
  const Plan plan = plan_of(file);
  std::vector<std::byte> packed(static_cast<std::size_t>(plan.bytes));
  for (const int threads : {1, 3}) {
    base::ThreadTeam team(threads);
    std::vector<double> told;
    pack_matrices(file, plan.jobs, packed.data(), team, {},
                  [&, caller = std::this_thread::get_id()](double fraction) {
                    CHECK(std::this_thread::get_id() == caller);
                    told.push_back(fraction);
                  });
    REQUIRE_FALSE(told.empty());
    CHECK(told.front() == 0);
    CHECK(told.back() == 1);
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(std::adjacent_find(told.begin(), told.end()) == told.end());
    CHECK(told.size() <= 101);
  }
}

TEST_CASE("what runs alongside runs once, on the calling thread, and may fail") {
  const gguf::Reader file = patterned_file();
  const Plan plan = plan_of(file);
  std::vector<std::byte> packed(static_cast<std::size_t>(plan.bytes));
  for (const int threads : {1, 2}) {
    base::ThreadTeam team(threads);
    std::vector<std::thread::id> runs;
    pack_matrices(file, plan.jobs, packed.data(), team,
                  [&] { runs.push_back(std::this_thread::get_id()); }, {});
    CHECK(runs == std::vector{std::this_thread::get_id()});
    CHECK_THROWS_WITH(pack_matrices(file, plan.jobs, packed.data(), team,
                                    [] { throw Error(ErrorCode::bad_file, "no vocabulary"); }, {}),
                      "no vocabulary");
  }
}

TEST_CASE("a file that shrinks while it is packed is an error, whoever meets it") {
  const testing::TempFolder folder;
  gguf::Writer writer;
  const std::vector<std::byte> rows(static_cast<std::size_t>(kManyRows) * 544, std::byte{1});
  writer.add_tensor("large", {512, kManyRows}, kernels::WeightType::q8_0, rows);
  const std::string path = folder.file("model.gguf");
  writer.write(path);
  const auto size = std::filesystem::file_size(path);
  for (const auto access : {gguf::Access::map, gguf::Access::read}) {
    for (const int threads : {1, 2}) {
      const gguf::Reader file = gguf::Reader::open(path, access);
      const Plan plan = plan_of(file);
      std::vector<std::byte> packed(static_cast<std::size_t>(plan.bytes));
      base::ThreadTeam team(threads);
      std::filesystem::resize_file(path, size / 2);
      try {
        pack_matrices(file, plan.jobs, packed.data(), team, {}, {});
        FAIL("packed a file that is not there");
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io);
        CHECK_THAT(error.what(), Catch::Contains("shrank"));
      }
      std::filesystem::resize_file(path, size);
    }
  }
}
