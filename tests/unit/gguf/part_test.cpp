// Case L2: cut downloads and files that are no GGUF are called what they are; versions 2 and 3
// load.
#include "libr1/gguf/part.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/gguf/gguf_test_support.hpp"

namespace r1::testing {
namespace {

GgufBytes cut(const GgufBytes& file, std::size_t bytes) {
  return GgufBytes().raw(std::string_view(file.bytes()).substr(0, bytes));
}

}  // namespace

TEST_CASE("versions 2 and 3 load", "[gguf]") {
  const std::uint32_t version = GENERATE(2u, 3u);
  const GgufBytes file = small_gguf(version);
  const auto reader = gguf::Reader::from_memory(file.span(), "test.gguf");
  CHECK(reader.keys().size() == 3);
  CHECK(tensor_bytes(reader, "b") == GgufBytes().pattern(102, 2).bytes());
}

TEST_CASE("other versions and byte orders are named", "[gguf][L2]") {
  for (const std::uint32_t version : {0u, 1u, 4u, 255u}) {
    const Error error = open_error(small_gguf(version));
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(std::string(error.what()) == "test.gguf: byte 4: GGUF version " +
                                           std::to_string(version) +
                                           " is not supported, expected 2 or 3");
  }
  for (const std::uint32_t version : {0x02000000u, 0x03000000u}) {
    const Error error = open_error(small_gguf(version));
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK_THAT(error.what(), Catch::Contains("big-endian"));
  }
  const Error swapped = open_error(GgufBytes().raw("FUGG").u32(0x03000000));
  CHECK(swapped.code() == ErrorCode::unsupported);
  CHECK_THAT(swapped.what(), Catch::Contains("big-endian"));
}

TEST_CASE("files that are no GGUF are called what they are", "[gguf][L2]") {
  const std::string lfs =
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"<!DOCTYPE html>\n<html><head><title>404</title>", "HTML page"},
      {"\xef\xbb\xbf \r\n<HTML>", "HTML page"},
      {lfs, "Git LFS pointer"},
      {R"({"error": "Entry not found"})", "JSON"},
      {"tjgg\x03", "before GGUF"},
      {std::string("PK\x03\x04\x14", 5), "ZIP archive"},
      {std::string("\x10\0\0\0\0\0\0\0{\"a\":", 13), "safetensors"},
      {std::string(100, '\0'), "zeros"},
      {"Entry not found", "expected 'GGUF' at byte 0, got 'Entr'"},
      {"gguf\x03", "expected 'GGUF' at byte 0, got 'gguf'"},
      {"x", "got 'x'"},
      {"", "is empty"},
      {"GG", "2 bytes (download incomplete)"},
  };
  for (const auto& [bytes, words] : cases) {
    CAPTURE(bytes);
    const Error error = open_error(GgufBytes().raw(bytes));
    CHECK(error.code() == ErrorCode::bad_file);
    CHECK_THAT(std::string(error.what()),
               Catch::StartsWith("test.gguf: ") && Catch::Contains(words));
  }
}

TEST_CASE("a file cut anywhere is an error that says so", "[gguf][L2]") {
  const GgufBytes whole = small_gguf();
  const std::size_t size = whole.bytes().size();
  for (std::size_t bytes = 4; bytes < size; ++bytes) {
    CAPTURE(bytes);
    const Error error = open_error(cut(whole, bytes));
    CHECK(error.code() == ErrorCode::bad_file);
    CHECK_THAT(std::string(error.what()), Catch::Contains("download incomplete"));
  }
}

TEST_CASE("a cut file names the first tensor outside it", "[gguf][L2]") {
  const GgufBytes whole = small_gguf();
  const std::size_t size = whole.bytes().size();
  const std::size_t data = size - 170;
  const auto message = [&](std::size_t bytes) {
    return std::string(open_error(cut(whole, bytes)).what());
  };
  const auto expected = [&](std::string_view tensor, std::size_t begin, std::size_t end,
                            std::size_t got) {
    return "test.gguf: tensor '" + std::string(tensor) + "' at bytes " +
           std::to_string(data + begin) + " to " + std::to_string(data + end) +
           ": expected a file of " + std::to_string(size) + " bytes, got " + std::to_string(got) +
           " bytes (download incomplete)";
  };
  CHECK(message(size - 1) == expected("c", 160, 170, size - 1));
  CHECK(message(data + 33) == expected("b", 32, 134, data + 33));
  CHECK(message(data) == expected("a", 0, 32, data));
}

TEST_CASE("what cannot be opened is named", "[gguf][L2]") {
  const TempFolder folder;
  const auto access = GENERATE(gguf::Access::map, gguf::Access::read);
  const auto check = [&](const std::string& path, const std::string& words) {
    const Error error = open_error(path, access);
    CHECK(error.code() == ErrorCode::io);
    CHECK_THAT(std::string(error.what()), Catch::StartsWith(path + ": ") && Catch::Contains(words));
  };
  check(folder.file("missing.gguf"), "no such file");
  check(folder.path().string(), "is a directory");
  const std::string pipe = folder.file("pipe.gguf");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  check(pipe, "not a regular file");
  // Root may read everything, so root becomes nobody (uid 65534) for the attempt.
  const std::string locked = folder.write("locked.gguf", small_gguf().bytes());
  REQUIRE(::chmod(locked.c_str(), 0) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const uid_t user = ::geteuid();
  if (user == 0) REQUIRE(::seteuid(65534) == 0);
  check(locked, "permission denied");
  if (user == 0) REQUIRE(::seteuid(user) == 0);
  const std::string empty = folder.write("empty.gguf", "");
  CHECK_THAT(std::string(open_error(empty, access).what()), Catch::Contains("is empty"));
}

TEST_CASE("a header above the limit is refused", "[gguf][L1]") {
  GgufBytes file;
  file.header(0, 5);
  for (int i = 0; i < 5; ++i) {
    file.key_string("s" + std::to_string(i), std::string(std::size_t{15} << 20, 'x'));
  }
  const Error error = open_error(file);
  CHECK(error.code() == ErrorCode::bad_file);
  CHECK_THAT(std::string(error.what()), Catch::Contains("header of at most 67108864 bytes"));
}

}  // namespace r1::testing
