// Reads tiny-r1's data. The safetensors reading here is the few lines that one known file needs.
#include "tests/support/tiny_r1.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <span>

#include "libr1/gguf/reader.hpp"
#include "libr1/gguf/writer.hpp"

namespace r1::support {
namespace {

using Json = nlohmann::json;

std::string folder() { return std::string(R1_SOURCE_DIR) + "/models/tiny-r1/"; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string gguf_name(std::string name) {
  static const std::pair<const char*, const char*> kRenames[] = {
      {"model.embed_tokens", "token_embd"},
      {"model.norm", "output_norm"},
      {"model.layers", "blk"},
      {"input_layernorm", "attn_norm"},
      {"post_attention_layernorm", "ffn_norm"},
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"}};
  for (const auto& [from, to] : kRenames) {
    const std::size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, std::strlen(from), to);
  }
  return name;
}

}  // namespace

std::vector<ReferenceCase> reference_cases() {
  const Json json = Json::parse(read_file(folder() + "reference.json"));
  std::vector<ReferenceCase> cases;
  for (const Json& entry : json.at("cases")) {
    ReferenceCase one;
    one.id = entry.at("id");
    one.tokens = entry.at("token_ids").get<std::vector<TokenId>>();
    one.top_ids = entry.at("top20_ids").get<std::vector<TokenId>>();
    one.top_logits = entry.at("top20_logits").get<std::vector<double>>();
    for (const Json& logprob : entry.at("prompt_logprobs")) {
      if (logprob.is_number()) one.prompt_logprob += logprob.get<double>();
    }
    one.greedy = entry.at("greedy_ids").get<std::vector<TokenId>>();
    one.greedy_lead = entry.at("greedy_lead").get<std::vector<double>>();
    one.greedy_ends = !entry.at("greedy_eos_at").is_null();
    if (one.greedy_ends) one.greedy.resize(entry.at("greedy_eos_at").get<std::size_t>());
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<Problem> heldout_problems() {
  std::ifstream file(folder() + "problems_heldout.jsonl");
  std::vector<Problem> problems;
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    Problem problem{json.at("id"), json.at("kind"), json.at("prompt"), {}};
    const Json& answer = json.at("answer");
    for (const char* key : {"chickens", "rabbits", "x", "result"}) {
      if (answer.contains(key)) problem.answer.push_back(answer.at(key));
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

bool is_right(const Problem& problem, const std::string& answer) {
  std::vector<std::int64_t> numbers;
  std::smatch match;
  if (problem.kind == "chicken_rabbit" || problem.kind == "no_solution") {
    if (answer.find("无解") != std::string::npos ||
        answer.find("no solution") != std::string::npos) {
      return problem.answer.empty();
    }
    static const std::regex chinese("(?:鸡|雉)有(\\d+)只，兔(?:子)?有(\\d+)只");
    static const std::regex english("(\\d+) chickens? and (\\d+) rabbits?");
    if (!std::regex_search(answer, match, chinese) && !std::regex_search(answer, match, english)) {
      return false;
    }
    numbers = {std::stoll(match[1]), std::stoll(match[2])};
  } else if (problem.kind == "linear") {
    static const std::regex x("x=(\\d+)");
    if (!std::regex_search(answer, match, x)) return false;
    numbers = {std::stoll(match[1])};
  } else {
    static const std::regex digits("\\d+");
    for (std::sregex_iterator it(answer.begin(), answer.end(), digits), end; it != end; ++it) {
      numbers.push_back(std::stoll(it->str()));
    }
  }
  return !problem.answer.empty() && numbers == problem.answer;
}

std::string embedded_path() { return folder() + "tiny-r1-Q8_0.gguf"; }

std::vector<std::byte> bf16_image() {
  const std::string file = read_file(folder() + "hf/model.safetensors");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  const Json header = Json::parse(file.substr(8, header_bytes));
  const std::span<const char> data = std::span(file).subspan(8 + header_bytes);

  const gguf::Reader quantized = gguf::Reader::open(embedded_path());
  gguf::Writer writer;
  for (const std::string& key : quantized.keys()) {
    if (key.starts_with("general.sampling")) continue;
    writer.add(key, *quantized.get(key));
  }
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    auto shape = tensor.at("shape").get<std::vector<std::int64_t>>();
    const auto offsets = tensor.at("data_offsets").get<std::vector<std::size_t>>();
    writer.add_tensor(gguf_name(name), {shape.rbegin(), shape.rend()}, kernels::WeightType::bf16,
                      std::as_bytes(data.subspan(offsets[0], offsets[1] - offsets[0])));
  }
  return writer.image();
}

std::string shared_path(const std::string& type) {
  const std::string path =
      std::string(R1_SHARED) + "/data/models/tiny-r1/gguf/tiny-r1-" + type + ".gguf";
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace r1::support
