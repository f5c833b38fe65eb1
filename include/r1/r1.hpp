// Everything at once.
#pragma once

#include "r1/chat.hpp"        // IWYU pragma: export
#include "r1/engine.hpp"      // IWYU pragma: export
#include "r1/error.hpp"       // IWYU pragma: export
#include "r1/generation.hpp"  // IWYU pragma: export
#include "r1/measure.hpp"     // IWYU pragma: export
#include "r1/model.hpp"       // IWYU pragma: export
#include "r1/system.hpp"      // IWYU pragma: export
#include "r1/tokenizer.hpp"   // IWYU pragma: export
