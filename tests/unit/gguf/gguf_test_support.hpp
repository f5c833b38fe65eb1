// Shortcuts of the GGUF tests: the error that opening something ends in, and the bytes of a tensor.
#pragma once

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "libr1/gguf/reader.hpp"
#include "r1/error.hpp"
#include "tests/support/gguf_bytes.hpp"

namespace r1::testing {

/// The Error that `action` throws; fails the test when it throws none.
template <class Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error;
  }
  FAIL("expected an r1::Error, got none");
  return Error(ErrorCode::io, "");
}

/// The Error of opening an image named "test.gguf".
inline Error open_error(const GgufBytes& image) {
  return error_of([&] { gguf::Reader::from_memory(image.span(), "test.gguf"); });
}

/// The Error of opening a path.
inline Error open_error(const std::string& path, gguf::Access access = gguf::Access::map) {
  return error_of([&] { gguf::Reader::open(path, access); });
}

/// All bytes of the tensor `name`.
inline std::string tensor_bytes(const gguf::Reader& reader, std::string_view name) {
  const gguf::TensorInfo* tensor = reader.find(name);
  REQUIRE(tensor != nullptr);
  std::string out(static_cast<std::size_t>(tensor->bytes), '\0');
  reader.read(*tensor, 0, std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace r1::testing
