// Reads messages and commands, and shows answers.
#include "tools/r1-generate/chat.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <utility>

#include "r1/error.hpp"
#include "tools/r1-generate/encoding.hpp"
#include "tools/r1-generate/line_editor.hpp"
#include "tools/r1-generate/report.hpp"
#include "tools/r1-generate/text_input.hpp"

namespace r1_tools {
namespace {

constexpr std::string_view kHelp =
    "/reset        forget the conversation (the system prompt stays)\n"
    "/system TEXT  begin anew with this system prompt; without TEXT: with none\n"
    "/stats        numbers of the last answer\n"
    "/help         this list\n"
    "/exit         leave; Ctrl-D does the same\n"
    "Ctrl-C stops an answer; pressed again it leaves. After a backslash at the end of\n"
    "a line the message goes on in the next one. A message that begins with a slash:\n"
    "put a blank before it.\n";

class Chat {
 public:
  Chat(r1::Engine& engine, const Run& run)
      : run_(run),
        engine_(engine),
        session_(engine.open_session(run.options.generation)),
        editor_(run.interrupt),
        system_(run.options.system) {
    if (system_) session_.system(*system_);
    run_.interrupt.end_answer();
    run_.interrupt.forget();
  }

  int loop(const std::optional<std::string>& first) {
    say(banner(engine_) + "/help lists the commands, Ctrl-D leaves.\n");
    if (first) send(*first);
    std::string line;
    while (!leaving_) {
      switch (read_message(line)) {
        case LineEvent::end:
          if (editor_.is_interactive()) write_err("\n");  // the shell's prompt begins a line
          return kExitOk;
        case LineEvent::interrupt:
          // With something typed it clears the line, as in a shell.
          if (!line.empty()) {
            run_.interrupt.forget();
          } else if (run_.interrupt.count() > 1) {
            return kExitInterrupted;
          } else {
            say("(Ctrl-C again or /exit leaves)\n");
          }
          break;
        case LineEvent::line:
          run_.interrupt.forget();
          handle(line);
      }
    }
    return kExitOk;
  }

 private:
  /// Text for the person, not part of an answer.
  void say(std::string_view text) const {
    if (editor_.is_interactive() && !run_.options.quiet) write_err(text);
  }

  LineEvent read_message(std::string& message) {
    message.clear();
    std::string line;
    while (true) {
      const LineEvent event = editor_.read(message.empty() ? "> " : ". ", line);
      message += line;
      if (event != LineEvent::line) return event;
      if (!message.ends_with('\\')) break;
      message.back() = '\n';
    }
    if (!message.empty()) editor_.remember(message);
    return LineEvent::line;
  }

  void handle(const std::string& message) {
    if (message.find_first_not_of(" \t\n") == std::string::npos) return;
    if (valid_utf8_prefix(message) != message.size()) {
      write_message("error", "message: expected UTF-8, got other bytes");
    } else if (message.front() == '/') {
      command(message);
    } else {
      send(run_.options.cot ? with_cot_advice(message) : message);
    }
  }

  void command(const std::string& line) {
    const std::size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank);
    const std::size_t text_at = line.find_first_not_of(' ', blank);
    const std::string text =
        blank == std::string::npos || text_at == std::string::npos ? "" : line.substr(text_at);
    if (name == "/exit" || name == "/quit") {
      leaving_ = true;
    } else if (name == "/help") {
      write_err(kHelp);
    } else if (name == "/stats") {
      write_err(stats_.empty() ? "no answer yet\n" : stats_);
    } else if (name == "/reset") {
      begin_anew();
      say("(a new conversation)\n");
    } else if (name == "/system") {
      system_ = text.empty() ? std::nullopt : std::optional(text);
      begin_anew();
      say(text.empty() ? "(a new conversation without a system prompt)\n"
                       : "(a new conversation with this system prompt)\n");
    } else {
      write_message("error", fmt::format("unknown command {}; /help lists them", name));
    }
  }

  void begin_anew() {
    session_.reset();
    if (system_) session_.system(*system_);
  }

  void send(const std::string& message) {
    try {
      session_.user(message);
    } catch (const r1::Error& error) {
      const bool is_full = error.code() == r1::ErrorCode::context_length_exceeded;
      write_message("error", fmt::format("{}{}", error.what(),
                                         is_full ? "; /reset begins a new conversation" : ""));
      return;
    }
    const r1::Generation& result = answer(session_, run_);
    if (result.finish_reason == r1::FinishReason::error) write_message("error", result.error);
    if (result.finish_reason == r1::FinishReason::cancelled) say("(stopped)\n");
    if (result.finish_reason == r1::FinishReason::length) {
      say("(stopped at the limit of tokens; see -n and -c)\n");
    }
    if (result.dropped_messages > dropped_messages_ && !run_.options.quiet) {
      write_message("note", fmt::format("the oldest {} messages no longer fit and are left out",
                                        result.dropped_messages));
    }
    dropped_messages_ = result.dropped_messages;
    stats_ = summary_line(result, is_drawn(engine_, run_.options)) + "\n";
    if (run_.options.verbose) write_err(stats_);
  }

  const Run& run_;
  r1::Engine& engine_;
  r1::Session session_;
  LineEditor editor_;
  std::optional<std::string> system_;
  std::string stats_;
  std::int64_t dropped_messages_ = 0;  ///< as last told
  bool leaving_ = false;
};

}  // namespace

int run_chat(const std::optional<std::string>& first, r1::Engine& engine, const Run& run) {
  return Chat(engine, run).loop(first);
}

}  // namespace r1_tools
