// libedit with a character reader of our own: its reader swallows the first Ctrl-C (it retries
// after EINTR), decodes by the locale, and takes each line of a paste as a message of its own.
#include "tools/r1-generate/line_editor.hpp"

#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <string_view>

#include "tools/r1-generate/output.hpp"

namespace r1_tools {
namespace {

constexpr int kHistoryLines = 500;
/// Stands for a newline inside a pasted text while it is edited: U+23CE, return symbol.
constexpr wchar_t kPastedNewline = L'\u23CE';
constexpr std::string_view kPastedNewlineUtf8 = "\xE2\x8F\x8E";

enum class Ready { input, interrupt, nothing };

/// Waits for a byte on standard input or for Ctrl-C. `wait_ms` -1: for ever.
Ready wait_for_input(const Interrupt& interrupt, int wait_ms) {
  std::array<pollfd, 2> fds{{{STDIN_FILENO, POLLIN, 0}, {interrupt.wake_fd(), POLLIN, 0}}};
  while (true) {
    const int count = poll(fds.data(), fds.size(), wait_ms);
    if (count < 0 && errno == EINTR) continue;
    if (fds[1].revents != 0) return Ready::interrupt;
    return count > 0 ? Ready::input : Ready::nothing;
  }
}

/// One byte; -1 at the end of the input.
int read_byte() {
  unsigned char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(STDIN_FILENO, &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1 ? byte : -1;
}

}  // namespace

struct LineEditor::Impl {
  Interrupt& interrupt;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string prompt;
  bool interrupted = false;
  std::string abandoned;  ///< what was typed when Ctrl-C came

  explicit Impl(Interrupt& source) : interrupt(source) {}

  static char* show_prompt(EditLine* editor) { return of(editor)->prompt.data(); }
  static int read_character(EditLine* editor, wchar_t* out) { return of(editor)->character(out); }
  static Impl* of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return static_cast<Impl*>(self);
  }

  void start_editor() {
    // libedit draws on its output file; a redirected standard output stays clean.
    FILE* screen = isatty(STDOUT_FILENO) == 1 ? stdout : stderr;
    editor = el_init("r1-generate", stdin, screen, stderr);
    if (editor == nullptr) return;
    history = history_init();
    ::history(history, &event, H_SETSIZE, kHistoryLines);
    ::history(history, &event, H_SETUNIQUE, 1);
    el_set(editor, EL_CLIENTDATA, this);
    el_set(editor, EL_PROMPT, show_prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_HIST, ::history, history);
    el_wset(editor, EL_GETCFN, read_character);
  }

  /// libedit's reader: 1 with a character, 0 at the end, -1 to give up the line.
  int character(wchar_t* out) {
    if (wait_for_input(interrupt, -1) == Ready::interrupt) {
      const LineInfo* shown = el_line(editor);
      abandoned.assign(shown->buffer, shown->lastchar);
      interrupted = true;
      return -1;
    }
    const int lead = read_byte();
    if (lead < 0) return 0;
    if (lead == '\n' || lead == '\r') {
      // A person's newline is the last byte there is; inside a paste more follow at once.
      const bool pasted = wait_for_input(interrupt, 0) == Ready::input;
      *out = pasted ? kPastedNewline : L'\n';
      return 1;
    }
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    auto value = static_cast<wchar_t>(more == 0 ? lead : lead & (0x3F >> more));
    for (int i = 0; i < more; ++i) {
      const int next = read_byte();
      if (next < 0) return 0;
      value = (value << 6) | (next & 0x3F);
    }
    *out = value;
    return 1;
  }

  LineEvent read_edited(std::string& line) {
    interrupted = false;
    el_resize(editor);
    // Before the prompt shows: libedit's own switch comes after it, and what is typed in between
    // would be echoed twice.
    el_set(editor, EL_PREP_TERM, 1);
    int count = 0;
    const char* text = el_gets(editor, &count);
    if (interrupted) {
      interrupt.drain();
      write_err("^C\n");
      line = abandoned;
      return LineEvent::interrupt;
    }
    if (text == nullptr) return LineEvent::end;
    line = text;
    for (std::size_t at = line.find(kPastedNewlineUtf8); at != std::string::npos;
         at = line.find(kPastedNewlineUtf8, at)) {
      line.replace(at, kPastedNewlineUtf8.size(), "\n");
    }
    while (line.ends_with('\n')) line.pop_back();
    return LineEvent::line;
  }

  LineEvent read_plain(std::string& line) const {
    line.clear();
    while (true) {
      if (wait_for_input(interrupt, -1) == Ready::interrupt) {
        interrupt.drain();
        return LineEvent::interrupt;
      }
      const int byte = read_byte();
      if (byte == '\n' || (byte < 0 && !line.empty())) return LineEvent::line;
      if (byte < 0) return LineEvent::end;
      line += static_cast<char>(byte);
    }
  }
};

LineEditor::LineEditor(Interrupt& interrupt) : impl_(std::make_unique<Impl>(interrupt)) {
  const bool has_screen = isatty(STDOUT_FILENO) == 1 || isatty(STDERR_FILENO) == 1;
  if (isatty(STDIN_FILENO) == 1 && has_screen) impl_->start_editor();
}

LineEditor::~LineEditor() {
  if (impl_->history != nullptr) history_end(impl_->history);
  if (impl_->editor != nullptr) el_end(impl_->editor);
}

LineEvent LineEditor::read(const std::string& prompt, std::string& line) {
  if (impl_->editor == nullptr) return impl_->read_plain(line);
  impl_->prompt = prompt;
  return impl_->read_edited(line);
}

void LineEditor::remember(const std::string& line) {
  if (impl_->history == nullptr) return;
  std::string shown = line;
  for (std::size_t at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at)) {
    shown.replace(at, 1, kPastedNewlineUtf8);
  }
  history(impl_->history, &impl_->event, H_ENTER, shown.c_str());
}

bool LineEditor::is_interactive() const { return impl_->editor != nullptr; }

void use_utf8_locale() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) == "UTF-8") return;
  // C.UTF-8 is part of glibc 2.35 and of Debian's before.
  std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace r1_tools
