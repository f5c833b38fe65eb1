// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace r1 {

/// What kind of thing went wrong, for callers that react differently to different kinds.
enum class ErrorCode {
  invalid_argument,         ///< an option or argument is out of its range
  io,                       ///< the operating system refused a read, a map, an open
  bad_file,                 ///< a file is damaged, incomplete or not what it claims to be
  unsupported,              ///< a valid file or template uses something r1 does not implement
  out_of_memory,            ///< memory that was needed could not be had
  context_length_exceeded,  ///< a prompt does not fit into the context
  template_error,           ///< a chat template failed or called raise_exception
  non_finite,               ///< the model produced NaN or infinity
};

/// Thrown at load, at construction and when a prompt is given; never while tokens are generated.
/// `what()` is one line that says what, where, expected and got.
class Error : public std::runtime_error {
 public:
  /// `message`: one line, no trailing newline.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  /// The kind of error.
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace r1
