// A signal handler may do next to nothing, so it counts, wakes a thread by a semaphore, and that
// thread calls Session::stop().
#include "tools/r1-generate/interrupt.hpp"

#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include "tools/command_line/program.hpp"

namespace r1_tools {
namespace {

enum class Phase : int { exit_at_once, stop_answer, count_only };

// A signal handler has no other way to its data than static storage.
std::atomic<Phase> g_phase{Phase::exit_at_once};
std::atomic<int> g_count{0};
std::atomic<int> g_answer_count{0};
std::atomic<int> g_wake_fd{-1};
sem_t g_stop_wanted;

void on_interrupt(int) {
  const int saved_errno = errno;
  g_count.fetch_add(1);
  const Phase phase = g_phase.load();
  if (phase == Phase::exit_at_once ||
      (phase == Phase::stop_answer && g_answer_count.fetch_add(1) > 0)) {
    _exit(kExitInterrupted);
  }
  if (phase == Phase::stop_answer) {
    sem_post(&g_stop_wanted);
  } else {
    const std::uint64_t one = 1;
    const ssize_t written = write(g_wake_fd.load(), &one, sizeof one);
    static_cast<void>(written);
  }
  errno = saved_errno;
}

}  // namespace

struct Interrupt::Impl {
  std::mutex mutex;
  r1::Session* session = nullptr;  ///< the one whose answer is running; under `mutex`
  std::atomic<bool> ending{false};
  struct sigaction previous {};
  std::thread watcher;

  void watch() {
    while (true) {
      if (sem_wait(&g_stop_wanted) != 0) continue;
      if (ending) return;
      const std::lock_guard lock(mutex);
      // A wake-up that belongs to an answer which is over finds the count at 0.
      if (session != nullptr && g_answer_count > 0) session->stop();
    }
  }
};

Interrupt::Interrupt() : impl_(std::make_unique<Impl>()) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0 || sem_init(&g_stop_wanted, 0, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot prepare for Ctrl-C");
  }
  g_wake_fd = fd;
  g_phase = Phase::exit_at_once;
  impl_->watcher = std::thread([this] { impl_->watch(); });
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, nullptr, &impl_->previous);
  // Whoever started this with SIGINT ignored (nohup, a shell's &) wants it to stay so.
  if (impl_->previous.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &impl_->previous, nullptr);
  impl_->ending = true;
  sem_post(&g_stop_wanted);
  impl_->watcher.join();
  close(g_wake_fd.exchange(-1));
  sem_destroy(&g_stop_wanted);
}

void Interrupt::begin_answer(r1::Session& session) {
  const std::lock_guard lock(impl_->mutex);
  impl_->session = &session;
  g_answer_count = 0;
  g_phase = Phase::stop_answer;
}

void Interrupt::end_answer() {
  g_phase = Phase::count_only;
  const std::lock_guard lock(impl_->mutex);
  impl_->session = nullptr;
}

int Interrupt::count() const { return g_count; }

void Interrupt::forget() { g_count = 0; }

int Interrupt::wake_fd() const { return g_wake_fd; }

void Interrupt::drain() {
  std::uint64_t value = 0;
  const ssize_t got = read(g_wake_fd, &value, sizeof value);
  static_cast<void>(got);
}

}  // namespace r1_tools
