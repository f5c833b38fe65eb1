// Puts the GGUF file that R1_EMBEDDED_MODEL_FILE names (a definition of the build) into the
// read-only data of the program. The assembler copies it: a C array of that size would take a
// compiler minutes. Its pages are file-backed, so they cost memory only while they are read.
#include "tools/embedded/embedded_model.hpp"

extern "C" {
extern const std::byte r1_embedded_model_begin[];
extern const std::byte r1_embedded_model_end[];
}

asm("  .pushsection .rodata\n"
    "  .balign 64\n"
    "  .globl r1_embedded_model_begin\n"
    "  .hidden r1_embedded_model_begin\n"
    "r1_embedded_model_begin:\n"
    "  .incbin \"" R1_EMBEDDED_MODEL_FILE
    "\"\n"
    "  .globl r1_embedded_model_end\n"
    "  .hidden r1_embedded_model_end\n"
    "r1_embedded_model_end:\n"
    "  .byte 0\n"
    "  .popsection\n");

namespace r1_tools {

std::span<const std::byte> embedded_model() {
  return {r1_embedded_model_begin, r1_embedded_model_end};
}

}  // namespace r1_tools
