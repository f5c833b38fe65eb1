// Runs a program as a user does: with arguments, input, an environment, signals, or at a terminal.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace r1::support {

/// Variables that are set, or with an empty value taken away.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// How a program is run.
struct ProcessOptions {
  std::string input;        ///< what standard input gives, then its end
  Environment environment;  ///< changes to this process's environment
  std::string out_path;     ///< standard output is this file, not captured; empty: captured
  bool interrupt_at_output = false;  ///< sends SIGINT once something came on standard output
  bool close_at_output = false;      ///< closes the pipe once something came, as `head` does
};

/// What a program did.
struct ProcessResult {
  int exit_code = -1;  ///< 128 + the signal's number when one ended it, as a shell says
  std::string out;
  std::string err;
};

/// Runs `arguments` (the program's path first) to its end. Throws std::runtime_error when it cannot
/// be started or takes longer than five minutes.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          const ProcessOptions& options = {});

/// A program at a terminal of 80 columns and 24 lines.
class TerminalProcess {
 public:
  /// Starts it. Throws std::runtime_error.
  TerminalProcess(const std::vector<std::string>& arguments, const Environment& environment);
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  /// Kills the program if it still runs.
  ~TerminalProcess();

  /// Types `keys`: "\r" is Enter, "\x03" Ctrl-C, "\x04" Ctrl-D.
  void type(const std::string& keys);
  /// Waits until `text` has come on the screen after the last text waited for. False when the
  /// program ended or five minutes went by without it.
  bool wait_for(const std::string& text);
  /// Waits for the end; the exit code as in ProcessResult.
  int wait();
  /// All that the program wrote, escape sequences included.
  const std::string& screen() const { return screen_; }

 private:
  /// Reads what is there; false at the end or after `wait_ms` without anything.
  bool read_some(int wait_ms);

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace r1::support
