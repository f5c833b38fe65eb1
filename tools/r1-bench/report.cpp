// The four ways to write rows. JSON and CSV give base units and every digit; the tables for people
// round.
#include "tools/r1-bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace r1_tools {
namespace {

nlohmann::ordered_json json_row(const Row& row) {
  return {{"test", row.test},
          {"model", row.model},
          {"type", row.type},
          {"isa", row.isa},
          {"threads", row.threads},
          {"n_prompt", row.n_prompt},
          {"n_gen", row.n_gen},
          {"depth", row.depth},
          {"batch", row.batch},
          {"tokens_per_s_median", row.tokens_per_s_median},
          {"tokens_per_s_p5", row.tokens_per_s_p5},
          {"tokens_per_s_p95", row.tokens_per_s_p95},
          {"limit_share", row.limit_share},
          {"value", row.value},
          {"unit", row.unit}};
}

std::string json_report(const std::vector<Row>& rows) {
  // One row a line, so that files of two runs can be compared with diff.
  std::string out = "[";
  for (const Row& row : rows) {
    out += out.size() == 1 ? "\n  " : ",\n  ";
    out += json_row(row).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  return out + "\n]\n";
}

/// RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_report(const std::vector<Row>& rows) {
  std::string out;
  const auto line = [&out](const nlohmann::ordered_json& row, bool names) {
    std::string separator;
    for (const auto& [name, value] : row.items()) {
      out += separator;
      out += csv_field(names ? name : value.is_string() ? value.get<std::string>() : value.dump());
      separator = ",";
    }
    out += "\n";
  };
  line(json_row(Row{}), true);
  for (const Row& row : rows) line(json_row(row), false);
  return out;
}

std::string scaled_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

/// Three digits or more, without those that nobody reads.
std::string speed(double tokens_per_s) {
  return fmt::format("{:.{}f}", tokens_per_s, tokens_per_s < 100 ? 2 : tokens_per_s < 1000 ? 1 : 0);
}

std::string human_value(const Row& row) {
  if (row.value == 0) return "not available";
  if (row.unit == "s") return scaled_seconds(row.value);
  if (row.unit == "B") return fmt::format("{:.1f} MB", row.value / 1e6);
  if (row.unit == "B/s") return fmt::format("{:.1f} GB/s", row.value / 1e9);
  if (row.unit == "MAC/s") return fmt::format("{:.1f} GMAC/s", row.value / 1e9);
  return fmt::format("{} t/s", speed(row.value));
}

constexpr std::size_t kColumnCount = 9;
using Cells = std::array<std::string, kColumnCount>;

const Cells kTitles = {"test",    "prompt", "gen",       "depth",   "batch",
                       "threads", "median", "p5 .. p95", "of limit"};

Cells cells(const Row& row) {
  const auto count = [](std::int64_t n) { return n == 0 ? "-" : fmt::format("{}", n); };
  Cells result;
  result[0] = row.test;
  std::replace(result[0].begin(), result[0].end(), '_', ' ');
  result[1] = count(row.n_prompt);
  result[2] = count(row.n_gen);
  result[3] = row.batch == 0 ? "-" : fmt::format("{}", row.depth);
  result[4] = count(row.batch);
  result[5] = count(row.threads);
  result[6] = human_value(row);
  if (row.tokens_per_s_median > 0) {
    result[7] = fmt::format("{} .. {}", speed(row.tokens_per_s_p5), speed(row.tokens_per_s_p95));
  }
  if (row.limit_share > 0) result[8] = fmt::format("{:.1f} %", row.limit_share * 100);
  return result;
}

/// What all rows of a model share; the first row that has a model says it.
std::string title(const std::vector<Row>& rows) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [](const Row& r) { return !r.model.empty(); });
  if (row != rows.end()) return fmt::format("{}, {}, {}", row->model, row->type, row->isa);
  return rows.empty() ? "" : rows.front().isa;
}

std::string table_report(const std::vector<Row>& rows) {
  std::vector<Cells> lines = {kTitles};
  for (const Row& row : rows) lines.push_back(cells(row));
  std::array<std::size_t, kColumnCount> widths{};
  for (const Cells& line : lines) {
    for (std::size_t c = 0; c < kColumnCount; ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  std::string out = title(rows) + "\n\n";
  for (const Cells& line : lines) {
    std::string text = fmt::format("{:<{}}", line[0], widths[0]);
    for (std::size_t c = 1; c < kColumnCount; ++c) {
      text += fmt::format("  {:>{}}", line[c], widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string markdown_report(const std::vector<Row>& rows) {
  std::string out = title(rows) + "\n\n";
  const auto line = [&out](const Cells& row) {
    for (const std::string& cell : row) out += "| " + cell + " ";
    out += "|\n";
  };
  line(kTitles);
  out += "| --- |";
  for (std::size_t c = 1; c < kColumnCount; ++c) out += " ---: |";
  out += "\n";
  for (const Row& row : rows) line(cells(row));
  return out;
}

}  // namespace

std::string report(const std::vector<Row>& rows, Format format) {
  switch (format) {
    case Format::json:
      return json_report(rows);
    case Format::csv:
      return csv_report(rows);
    case Format::markdown:
      return markdown_report(rows);
    case Format::table:
      break;
  }
  return table_report(rows);
}

}  // namespace r1_tools
