// Fuzzes the schema compiler and the machine: any text is refused by r1::Error or compiled, and
// from every place of what was compiled some byte goes on until the document may end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "libr1/text/json/machine.hpp"
#include "libr1/text/json/schema.hpp"
#include "r1/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/random_schema.hpp"

namespace json = r1::text::json;

std::vector<std::string> r1::fuzz::seeds() {
  std::vector<std::string> schemas;
  for (const std::string& name : support::kNamedSchemas) {
    schemas.push_back(support::named_schema(name));
  }
  return schemas;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::shared_ptr<const json::Grammar> grammar;
  try {
    grammar = std::make_shared<const json::Grammar>(
        json::parse_schema({reinterpret_cast<const char*>(data), size}));
  } catch (const r1::Error&) {
    return 0;
  }
  json::Machine machine(grammar);
  std::vector<json::Frame> places = {machine.start()};
  for (unsigned step = 0; step < 40; ++step) {
    bool may_end = false;
    for (const json::Frame& place : places) may_end = may_end || machine.may_end(place);
    std::vector<json::Frame> next;
    const std::size_t levels = machine.levels();
    // A different byte is tried first at each step, so that walks differ.
    for (unsigned i = 0; i < 256 && next.empty(); ++i) {
      const auto byte = static_cast<std::uint8_t>(i + step * 97);
      for (const json::Frame& place : places) machine.step(place, byte, next, 0);
    }
    if (next.empty()) {
      if (!may_end) std::abort();
      return 0;
    }
    places = next;
    machine.merge_levels(levels, places);
  }
  return 0;
}
