// All weight formats. The families are what one object of a tier compiles.
#pragma once

#include "kernels/formats/bf16.hpp"
#include "kernels/formats/f16.hpp"
#include "kernels/formats/f32.hpp"
#include "kernels/formats/iq4_nl.hpp"
#include "kernels/formats/iq4_xs.hpp"
#include "kernels/formats/q2_k.hpp"
#include "kernels/formats/q3_k.hpp"
#include "kernels/formats/q4_0.hpp"
#include "kernels/formats/q4_1.hpp"
#include "kernels/formats/q4_k.hpp"
#include "kernels/formats/q5_0.hpp"
#include "kernels/formats/q5_1.hpp"
#include "kernels/formats/q5_k.hpp"
#include "kernels/formats/q6_k.hpp"
#include "kernels/formats/q8_0.hpp"
#include "kernels/formats/tq2_0.hpp"

namespace r1::kernels {
namespace {

template <class... Formats>
struct FormatList {
  static constexpr int kCount = sizeof...(Formats);
};

using PlainFormats = FormatList<F32, F16, BF16>;
using BlockFormats = FormatList<Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, TQ2_0>;
using SuperFormats = FormatList<Q2_K, Q3_K, Q4_K, Q5_K, Q6_K>;
using TableFormats = FormatList<IQ4_NL, IQ4_XS>;

/// Calls body.template operator()<Format>() for each format of some families.
template <class... Lists, class Body>
constexpr void for_each_format(const Body& body) {
  const auto over = [&]<class... Formats>(FormatList<Formats...>) {
    (body.template operator()<Formats>(), ...);
  };
  (over(Lists{}), ...);
}

}  // namespace
}  // namespace r1::kernels
