// A first program on the library: load a model, ask a question, print the answer as it comes.
#include <r1/r1.hpp>

#include <iostream>

int main(int argc, char** argv) {
  const r1::Model model = r1::Model::load(argc > 1 ? argv[1] : "model.gguf");
  r1::Engine engine(model, {.kv_tokens = 8192});
  r1::Session chat = engine.open_session();
  chat.user("鸡兔同笼，共35个头，94只脚，问鸡兔各几只？");
  while (const auto piece = chat.next()) std::cout << piece->text << std::flush;
}
