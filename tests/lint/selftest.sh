#!/bin/bash
# Shows that the checks of this folder can fail: each gets a small good tree, which has to pass, and then the same tree with
# one breach at a time, which has to be reported by file name.
#
#   selftest.sh COMPILER          # COMPILER makes the objects that check_objects.sh reads
set -euo pipefail
lint=$(cd "$(dirname "$0")" && pwd)
compiler=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cases=0
bad=0

# A tree that breaks no rule.
good_tree() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree" && cd "$work/tree"
  mkdir -p include/r1 libr1/base libr1/text libr1/engine kernels/api kernels/isa/avx2 kernels/isa/baseline \
    kernels/formats kernels/reference tools/one docs/examples tests cmake
  printf '// A public header of the sample.\n#pragma once\n#include <string>\n' > include/r1/a.hpp
  printf '// A header of base.\n#pragma once\n#include <tbb/tbb.h>\n' > libr1/base/a.hpp
  printf '// Code of base.\n#include <fmt/format.h>\n#include "libr1/base/a.hpp"\n' > libr1/base/a.cpp
  printf '// Code of text.\n#include <nlohmann/json.hpp>\n#include "libr1/base/a.hpp"\n#include "r1/a.hpp"\n' > libr1/text/a.cpp
  printf '// Code of engine.\n#include "kernels/api/a.hpp"\n#include "libr1/text/a.hpp"\n// exit(1) and TO''DOS in prose are fine\nconst char* kText = "getenv(";\n' > libr1/engine/a.cpp
  printf '// Interface of the sample.\n#pragma once\n#include <cstdint>\n' > kernels/api/a.hpp
  printf '// A format of the sample.\n#pragma once\n#include <cstring>\n' > kernels/formats/a.hpp
  printf '// A tier of the sample.\n#include <immintrin.h>\n#include <xsimd/xsimd.hpp>\n#include "kernels/api/a.hpp"\n' > kernels/isa/avx2/a.cpp
  printf '// A tool of the sample.\n#include <CLI/CLI.hpp>\n#include "r1/a.hpp"\nint main() { std::exit(0); }\n' > tools/one/a.cpp
  printf '# Builds the sample.\nproject(sample)  # never -ffast-math\n' > CMakeLists.txt
  printf '{"configurePresets": [{"name": "ci"}]}\n' > CMakePresets.json
  printf '// The example of the sample.\nint main() {}\n' > docs/examples/chat.cpp
  printf '#!/bin/bash\n# Runs the sample.\n' > tests/run.sh
  local page
  for page in README.md README.zh-CN.md; do
    printf '# Sample\n```cpp\n%s\n```\n```sh\ntests/run.sh\nbuild/ci/r1-generate --good\ncmake --preset ci\n```\n| `--good` | flag |\n[run](tests/run.sh)\n' \
      "$(cat docs/examples/chat.cpp)" > $page
  done
  printf '#!/bin/bash\necho "  --good  a flag"\n' > "$work/r1-generate"
  chmod +x "$work/r1-generate"
}

# passes CHECK ARGS...: the check accepts.
passes() {
  cases=$((cases + 1))
  if ! "$lint/$1" "${@:2}" > "$work/out" 2>&1; then
    echo "selftest: $1 refuses the good sample:"
    cat "$work/out"
    bad=1
  fi
}
# refuses CHECK EXPECTED ARGS...: the check fails and says EXPECTED.
refuses() {
  cases=$((cases + 1))
  if "$lint/$1" "${@:3}" > "$work/out" 2>&1; then
    echo "selftest: $1 accepts what breaks: $2"
    bad=1
  elif ! grep -qF -- "$2" "$work/out"; then
    echo "selftest: $1 fails without saying '$2':"
    cat "$work/out"
    bad=1
  fi
}
# breach CHECK EXPECTED FILE LINE: LINE added to FILE of a good tree makes the check fail.
breach() {
  good_tree
  mkdir -p "$(dirname "$3")"
  if [[ ! -e $3 ]]; then
    printf '// A file of the sample.\n#pragma once\n' > "$3"
  fi
  printf '%b\n' "$4" >> "$3"
  refuses "$1" "$2" "$work/tree"
}

good_tree
passes check_includes.sh "$work/tree"
passes check_files.sh "$work/tree"
passes check_words.sh "$work/tree"
passes check_readme.sh "$work/tree" "$work/r1-generate"
for check in check_includes.sh check_files.sh check_words.sh; do
  mkdir -p "$work/empty"/{include,libr1,kernels}
  refuses $check "no sources found" "$work/empty"
done

include=check_includes.sh
breach $include "include/r1/a.hpp:4" include/r1/a.hpp '#include <fmt/format.h>'
breach $include "include/r1/a.hpp:4" include/r1/a.hpp '#include "libr1/base/a.hpp"'
breach $include "include/r1/a.hpp:4" include/r1/a.hpp '#include <sys/mman.h>'
breach $include "upward include" libr1/base/a.cpp '#include "libr1/text/a.hpp"'
breach $include "upward include" libr1/text/a.cpp '  #  include "libr1/engine/a.hpp"'
breach $include "no such layer" libr1/text/a.cpp '#include "libr1/other/a.hpp"'
breach $include "not one of the layers" libr1/utils/a.cpp '#include <vector>'
breach $include "kernels/api only" libr1/engine/a.cpp '#include "kernels/formats/a.hpp"'
breach $include "may not include kernels" libr1/text/a.cpp '#include "kernels/api/a.hpp"'
breach $include "libr1 may include r1/" libr1/engine/a.cpp '#include "tests/support/a.hpp"'
breach $include "relative include" libr1/text/a.cpp '#include "../base/a.hpp"'
breach $include "oneTBB has no door" libr1/engine/a.cpp '#include <tbb/parallel_for.h>'
breach $include "oneTBB has no door" libr1/engine/a.cpp '#include <oneapi/tbb.h>'
breach $include "JSON has no door" libr1/engine/a.cpp '#include <nlohmann/json.hpp>'
breach $include "utf8proc has no door" libr1/engine/a.cpp '#include <utf8proc.h>'
breach $include "xsimd has no door" libr1/engine/a.cpp '#include <xsimd/xsimd.hpp>'
breach $include "fmt has no door in libr1/base headers" libr1/base/a.hpp '#include <fmt/format.h>'
breach $include "kernels may include kernels/ only" kernels/dispatch.cpp '#include "libr1/base/a.hpp"'
breach $include "kernels may include kernels/ only" kernels/isa/avx2/a.cpp '#include "r1/a.hpp"'
breach $include "kernels/api may include itself" kernels/api/a.hpp '#include "kernels/formats/a.hpp"'
breach $include "for tests only" kernels/formats/a.cpp '#include "kernels/reference/a.hpp"'
breach $include "included by itself and by its extension only" kernels/isa/avx2/a.cpp '#include "kernels/isa/baseline/isa.hpp"'
breach $include "fmt has no door in kernels" kernels/dispatch.cpp '#include <fmt/format.h>'
breach $include "xsimd is for" kernels/dispatch.cpp '#include <xsimd/xsimd.hpp>'
breach $include "no std containers" kernels/isa/avx2/a.cpp '#include <vector>'
breach $include "no std containers" kernels/formats/a.hpp '#include <string>'
breach $include "tools may include include/r1" tools/one/a.cpp '#include "libr1/base/a.hpp"'
breach $include "tools may include include/r1" tools/one/a.cpp '#include "kernels/api/a.hpp"'

files=check_files.sh
good_tree
{ cat libr1/base/a.cpp; seq 600 | sed 's|^|// |'; } > libr1/base/long.cpp
refuses $files "libr1/base/long.cpp:1: expected at most 600" "$work/tree"
mv libr1/base/long.cpp libr1/base/long_data.cpp
passes $files "$work/tree"
good_tree
printf '#include <vector>\n' > libr1/base/bare.cpp
refuses $files "libr1/base/bare.cpp:1: expected a comment" "$work/tree"
good_tree
printf '// A header without a guard.\n#include <vector>\n' > libr1/base/bare.hpp
refuses $files "libr1/base/bare.hpp:1: expected #pragma once" "$work/tree"
good_tree
printf 'project(bare)\n' > tests/CMakeLists.txt
refuses $files "tests/CMakeLists.txt:1: expected a comment" "$work/tree"

words=check_words.sh
breach $words "reads the environment" libr1/base/a.cpp 'auto x = std::getenv("HOME");'
breach $words "reads the environment" kernels/dispatch.cpp 'auto x = secure_getenv ("HOME");'
breach $words "never prints" libr1/base/a.cpp 'void f() { std::cerr << 1; }'
breach $words "never prints" libr1/base/a.cpp 'void f() { if (true) printf("x"); }'
breach $words "never prints" libr1/base/a.cpp 'void f() { fmt::print("x"); }'
breach $words "never ends the process" libr1/base/a.cpp 'void f() { std::abort(); }'
breach $words "never ends the process" libr1/base/a.cpp 'void f() { /* a comment */ exit(1); }'
breach $words "no owning raw pointers" libr1/base/a.cpp 'int* p = new int[4];'
breach $words "no owning raw pointers" libr1/base/a.cpp 'void f(int* p) { delete p; }'
breach $words "flags come from" kernels/dispatch.cpp '__attribute__((target("avx2"))) void f();'
breach $words "flags come from" kernels/dispatch.cpp '#pragma GCC target("avx2")'
breach $words "ties the build to this machine" CMakeLists.txt 'add_compile_options(-march=native)'
breach $words "changes results" cmake/a.cmake 'add_compile_options(-ffast-math)'
breach $words "unfinished work" libr1/base/a.cpp '// TO''DO later'
breach $words "unfinished work" docs/a.md 'FIX''ME later'

readme=check_readme.sh
good_tree
echo 'int other;' >> docs/examples/chat.cpp
refuses $readme "differs from docs/examples/chat.cpp" "$work/tree"
good_tree
rm README.zh-CN.md
refuses $readme "README.zh-CN.md: no such file" "$work/tree"
breach $readme "tools/none.sh, which does not exist" README.md '```sh\ntools/none.sh\n```'
breach $readme "no such preset: other" README.md '```sh\ncmake --preset other\n```'
breach $readme "no such preset: other" README.md '```sh\nbuild/other/r1-generate\n```'
breach $readme "docs/none.md, which does not exist" README.md '[x](docs/none.md#y)'
good_tree
echo '| `--bad` | flag |' >> README.zh-CN.md
refuses $readme "README.zh-CN.md: --bad is not in" "$work/tree" "$work/r1-generate"
good_tree
echo '`--other`' > docs/r1-generate.md
refuses $readme "--good of r1-generate --help is not described" "$work/tree" "$work/r1-generate"

# commands FILE FLAGS: a compile_commands.json with that source among good ones.
commands() {
  local good='"directory": "/b", "command": "c++ -O3 -O2 -ffp-contract=off -Dxsimd=xsimd_avx2 -mavx2 -c /s/kernels/isa/avx2/t.cpp"'
  printf '[\n{\n%s,\n  "file": "/s/kernels/isa/avx2/t.cpp"\n},\n{\n  "command": "c++ %s -c %s",\n  "file": "%s"\n}\n]\n' \
    "  $(sed 's/, "command"/,\n  "command"/' <<< "$good")" "$2" "$1" "$1" > "$work/compile_commands.json"
}
check=check_commands.sh
tier='-ffp-contract=off -Dxsimd=xsimd_avx2'
commands /s/libr1/base/a.cpp '-O3'
passes $check "$work/compile_commands.json"
commands /s/libr1/base/a.cpp '-O3 -mavx2'
refuses $check "flag of a tier outside kernels/isa: -mavx2" "$work/compile_commands.json"
commands /s/libr1/base/a.cpp '-O3 -march=native'
refuses $check "forbidden flag -march=native" "$work/compile_commands.json"
commands /s/kernels/isa/avx2/a.cpp "-O3 -ffast-math $tier"
refuses $check "forbidden flag -ffast-math" "$work/compile_commands.json"
commands /s/kernels/isa/neon_dotprod/a.cpp "-O2 -march=armv8.2-a+dotprod $tier"
passes $check "$work/compile_commands.json"
commands /s/kernels/isa/neon/a.cpp "-O2 -march=armv8.2-a+dotprod $tier"
refuses $check "forbidden flag -march=armv8.2-a+dotprod" "$work/compile_commands.json"
commands /s/kernels/dispatch.cpp '-O3'
refuses $check "expected -ffp-contract=off" "$work/compile_commands.json"
commands /s/kernels/isa/avx2/a.cpp "-O2 -O1 $tier"
refuses $check "expected -O2" "$work/compile_commands.json"
commands /s/kernels/isa/avx2/a.cpp '-O2 -ffp-contract=off'
refuses $check "expected -Dxsimd=xsimd_<tier>" "$work/compile_commands.json"
echo '[]' > "$work/compile_commands.json"
refuses $check "expected compile commands of tiers" "$work/compile_commands.json"

# object FLAGS CODE: compiles CODE to $work/a.o. Other architectures have no -mavx2, which only says what sort of
# object it is.
architecture=$("$compiler" -dumpmachine)
object() {
  local flags=$1
  if [[ $architecture != x86_64* ]]; then
    flags=${flags/#-mavx2/}
  fi
  printf '%b\n' "$2" > "$work/a.cpp"
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 -O2 $flags -c "$work/a.cpp" -o "$work/a.o"
}
objects=check_objects.sh
table='namespace r1::kernels::avx2 { extern const int kTable; const int kTable = 1; }'
object -mavx2 "$table\nnamespace xsimd_avx2 { inline __attribute__((noinline)) int f(int x) { return x + 1; } }\nnamespace { __attribute__((used)) int g(int x) { return xsimd_avx2::f(x); } }"
passes $objects tier avx2 "$work/a.o"
object -mavx2 "$table\nnamespace std { inline __attribute__((noinline)) int f(int x) { return x + 1; } }\nnamespace { __attribute__((used)) int g(int x) { return std::f(x); } }"
refuses $objects "weak symbol without the tier's own prefix: std::f(int)" tier avx2 "$work/a.o"
object -mavx2 "$table\nint stray(int x) { return x; }"
refuses $objects "exported symbol outside r1::kernels::avx2: stray(int)" tier avx2 "$work/a.o"
object -mavx2 'static int g() { return 1; }\nint (*unused)() = nullptr;'
refuses $objects "exported symbol outside" tier avx2 "$work/a.o"
object -mavx2 'namespace { [[maybe_unused]] int g() { return 1; } }'
refuses $objects "expected one exported table, got 0" tier avx2 "$work/a.o"
object -mavx2 "$table\nint f(); namespace { int started = f(); }"
refuses $objects "has static initialisers" tier avx2 "$work/a.o"
refuses $objects "expected object files, got none" tier avx2
refuses $objects "no such object" plain "$work/none.o"

floats='void f(float* x, const float* y) { for (int i = 0; i < 64; ++i) x[i] += y[i]; }'
object '' "$floats"
passes $objects plain "$work/a.o"
if [[ $architecture == aarch64* ]]; then
  object '-O3 -march=armv8.2-a+dotprod' '#include <arm_neon.h>\nint32x4_t f(int32x4_t a, int8x16_t b) { return vdotq_s32(a, b, b); }'
  refuses $objects "sdot" plain "$work/a.o"
  refuses $objects "sdot" tier neon "$work/a.o"
  object '-march=armv8.1-a' '#include <atomic>\nint f(std::atomic<int>& x) { return x.fetch_add(1); }'
  refuses $objects "ldaddal" plain "$work/a.o"
  object '-O3 -march=armv8.2-a+sve' "$floats"
  refuses $objects "instruction beyond what every supported CPU has" plain "$work/a.o"
fi
if [[ $architecture == x86_64* ]]; then
  object '-O3 -mavx' "$floats"
  refuses $objects "instruction beyond what every supported CPU has" plain "$work/a.o"
  object '-O3 -mavx512f -mprefer-vector-width=512' "$floats"
  refuses $objects "instruction beyond what every supported CPU has" plain "$work/a.o"
  object -mbmi2 'unsigned f(unsigned x, int n) { return x << n; }'
  refuses $objects "shlx" plain "$work/a.o"
  object -mssse3 '#include <tmmintrin.h>\nvoid f(__m128i* x) { *x = _mm_maddubs_epi16(x[0], x[1]); }'
  refuses $objects "pmaddubsw" plain "$work/a.o"
  object -mssse3 '#include <tmmintrin.h>\nnamespace r1::kernels::baseline { extern const int kT; const int kT = 1; }\nnamespace { __attribute__((used)) void f(__m128i* x) { *x = _mm_maddubs_epi16(x[0], x[1]); } }'
  passes $objects tier baseline "$work/a.o"
  object -mavx '#include <tmmintrin.h>\nnamespace r1::kernels::baseline { extern const int kT; const int kT = 1; }\nnamespace { __attribute__((used)) void f(__m128i* x) { *x = _mm_maddubs_epi16(x[0], x[1]); } }'
  refuses $objects "beyond what every supported CPU has" tier baseline "$work/a.o"
fi

echo "selftest: $cases cases"
exit $bad
