// RMSNorm turns the one-hot into 16 (256 dimensions), the output row's weight of 2 makes a logit of
// 32 for the wanted token and 0 for all others.
#include "tests/support/chain_model.hpp"

#include <cstring>
#include <deque>

namespace r1::support {
namespace {

constexpr std::int64_t kHidden = 256;

std::vector<std::byte> as_bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::vector<std::int32_t> chain_ids(const ChainSpec& spec) {
  Vocabulary vocabulary(spec.family);
  std::vector<std::int32_t> ids;
  for (const std::string& token : spec.script) ids.push_back(vocabulary.id(token));
  return ids;
}

std::vector<std::byte> chain_model(const ChainSpec& spec) {
  Vocabulary vocabulary(spec.family);
  std::vector<std::int32_t> ids;
  for (const std::string& token : spec.script) ids.push_back(vocabulary.id(token));
  const std::int64_t vocab = (vocabulary.size() + 31) / 32 * 32;

  std::vector<float> embedding(static_cast<std::size_t>(vocab * kHidden), 0.0F);
  std::vector<float> output(embedding.size(), 0.0F);
  const auto at = [](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * kHidden + column);
  };
  std::vector<std::int64_t> state(static_cast<std::size_t>(vocab), 0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    state[static_cast<std::size_t>(ids[i])] = static_cast<std::int64_t>(i) + 1;
    output[at(ids[i], static_cast<std::int64_t>(i))] = 2;
  }
  if (spec.endless) output[at(ids.front(), static_cast<std::int64_t>(ids.size()))] = 2;
  for (std::int64_t row = 0; row < vocab; ++row)
    embedding[at(row, state[static_cast<std::size_t>(row)])] = 1;

  gguf::Writer writer;
  std::deque<std::vector<std::byte>> storage;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape,
                       const std::vector<float>& values) {
    storage.push_back(as_bytes(values));
    writer.add_tensor(name, std::move(shape), kernels::WeightType::f32, storage.back());
  };
  const auto fill = [](std::int64_t count, float value) {
    return std::vector<float>(static_cast<std::size_t>(count), value);
  };
  writer.add("general.architecture", std::string("qwen2"));
  writer.add("general.name", std::string("chain"));
  writer.add("qwen2.block_count", std::uint32_t{1});
  writer.add("qwen2.context_length", static_cast<std::uint32_t>(spec.context));
  writer.add("qwen2.embedding_length", static_cast<std::uint32_t>(kHidden));
  writer.add("qwen2.feed_forward_length", std::uint32_t{32});
  writer.add("qwen2.attention.head_count", std::uint32_t{4});
  writer.add("qwen2.attention.head_count_kv", std::uint32_t{1});
  writer.add("qwen2.rope.freq_base", 1e6F);
  writer.add("qwen2.attention.layer_norm_rms_epsilon", 1e-6F);
  vocabulary.write(writer, vocab);
  if (!spec.chat_template.empty()) writer.add("tokenizer.chat_template", spec.chat_template);

  add("token_embd.weight", {kHidden, vocab}, embedding);
  add("output.weight", {kHidden, vocab}, output);
  add("output_norm.weight", {kHidden}, fill(kHidden, 1));
  for (const char* name : {"attn_norm", "ffn_norm"}) {
    add("blk.0." + std::string(name) + ".weight", {kHidden}, fill(kHidden, 1));
  }
  add("blk.0.attn_q.weight", {kHidden, 256}, fill(kHidden * 256, 0));
  add("blk.0.attn_k.weight", {kHidden, 64}, fill(kHidden * 64, 0));
  add("blk.0.attn_v.weight", {kHidden, 64}, fill(kHidden * 64, 0));
  add("blk.0.attn_q.bias", {256}, fill(256, 0));
  add("blk.0.attn_k.bias", {64}, fill(64, 0));
  add("blk.0.attn_v.bias", {64}, fill(64, 0));
  add("blk.0.attn_output.weight", {256, kHidden}, fill(256 * kHidden, 0));
  add("blk.0.ffn_gate.weight", {kHidden, 32}, fill(kHidden * 32, 0));
  add("blk.0.ffn_up.weight", {kHidden, 32}, fill(kHidden * 32, 0));
  add("blk.0.ffn_down.weight", {32, kHidden}, fill(32 * kHidden, 0));
  return writer.image();
}

}  // namespace r1::support
