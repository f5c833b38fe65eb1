// fork, exec and poll; no shell in between, so that arguments arrive byte for byte.
#include "tests/support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <stdexcept>
#include <string_view>

extern char** environ;

namespace r1::support {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProcessLimit = std::chrono::minutes(5);

/// Arguments and environment in the form that execve takes; made before fork, which allows no
/// allocation.
class ExecImage {
 public:
  ExecImage(std::vector<std::string> arguments, const Environment& changes)
      : arguments_(std::move(arguments)) {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const std::size_t equals = text.find('=');
      if (equals != std::string_view::npos) {
        variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
      }
    }
    for (const auto& [name, value] : changes) {
      if (value.empty()) {
        variables.erase(name);
      } else {
        variables[name] = value;
      }
    }
    for (const auto& [name, value] : variables) environment_.push_back(name + "=" + value);
    for (std::string& text : arguments_) argv_.push_back(text.data());
    for (std::string& text : environment_) envp_.push_back(text.data());
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }

  /// In the child. Signals get their default effect, whatever the test program's parent ignored.
  [[noreturn]] void exec() const {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGPIPE, SIG_DFL);
    execve(argv_[0], argv_.data(), envp_.data());
    _exit(127);
  }

 private:
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
};

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The parent's ends of the child's standard streams.
struct Streams {
  int in = -1;
  int out = -1;
  int err = -1;
};

/// Moves data until both outputs are closed. `pid` gets the signals that `options` ask for.
void exchange(Streams& streams, pid_t pid, const ProcessOptions& options, ProcessResult& result) {
  const auto deadline = Clock::now() + kProcessLimit;
  std::string_view rest = options.input;
  bool interrupted = false;
  std::array<char, 65536> buffer{};
  while (streams.out >= 0 || streams.err >= 0) {
    if (streams.in >= 0 && rest.empty()) close_fd(streams.in);
    std::array<pollfd, 3> fds{
        {{streams.in, POLLOUT, 0}, {streams.out, POLLIN, 0}, {streams.err, POLLIN, 0}}};
    poll(fds.data(), fds.size(), 1000);
    if (Clock::now() > deadline) {
      kill(pid, SIGKILL);
      throw std::runtime_error("a program that a test runs did not end within five minutes");
    }
    if (fds[0].revents != 0) {
      const ssize_t written = write(streams.in, rest.data(), rest.size());
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0) close_fd(streams.in);  // the program reads no more
    }
    const auto receive = [&](short revents, int& fd, std::string& text) {
      if (revents == 0) return;
      const ssize_t got = read(fd, buffer.data(), buffer.size());
      if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
      if (got <= 0) close_fd(fd);
    };
    receive(fds[1].revents, streams.out, result.out);
    receive(fds[2].revents, streams.err, result.err);
    if (!result.out.empty() && options.close_at_output) close_fd(streams.out);
    if (!result.out.empty() && options.interrupt_at_output && !interrupted) {
      kill(pid, SIGINT);
      interrupted = true;
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments,
                          const ProcessOptions& options) {
  const ExecImage image(arguments, options.environment);
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0 ||
      pipe2(err.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot make a pipe");
  }
  if (!options.out_path.empty()) {
    close(out[1]);
    out[1] = open(options.out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out[1] < 0) throw std::runtime_error("cannot open " + options.out_path);
  }
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    image.exec();
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  // A program that does not read its input must not end the test.
  std::signal(SIGPIPE, SIG_IGN);
  Streams streams{in[1], out[0], err[0]};
  ProcessResult result;
  exchange(streams, pid, options, result);
  close_fd(streams.in);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = exit_code_of(status);
  return result;
}

TerminalProcess::TerminalProcess(const std::vector<std::string>& arguments,
                                 const Environment& environment) {
  const ExecImage image(arguments, environment);
  winsize size{};
  size.ws_col = 80;
  size.ws_row = 24;
  pid_ = forkpty(&fd_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::runtime_error("cannot make a terminal");
  if (pid_ == 0) image.exec();
}

TerminalProcess::~TerminalProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close_fd(fd_);
}

bool TerminalProcess::read_some(int wait_ms) {
  pollfd fd{fd_, POLLIN, 0};
  if (poll(&fd, 1, wait_ms) <= 0) return false;
  std::array<char, 4096> buffer{};
  // At the program's end Linux answers EIO.
  const ssize_t got = read(fd_, buffer.data(), buffer.size());
  if (got <= 0) return false;
  screen_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

void TerminalProcess::type(const std::string& keys) {
  std::string_view rest = keys;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written <= 0) throw std::runtime_error("cannot type into the terminal");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool TerminalProcess::wait_for(const std::string& text) {
  const auto deadline = Clock::now() + kProcessLimit;
  while (true) {
    const std::size_t at = screen_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || !read_some(static_cast<int>(left.count()))) return false;
  }
}

int TerminalProcess::wait() {
  constexpr auto kWaitMs = static_cast<int>(std::chrono::milliseconds(kProcessLimit).count());
  while (read_some(kWaitMs)) {
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return exit_code_of(status);
}

}  // namespace r1::support
