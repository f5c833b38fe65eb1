#!/bin/bash
# Holds what the library must not do and what no file may contain: printing, exiting, reading the environment and
# owning raw memory in libr1 and kernels; flags that change results or leak instructions; unfinished-work marks.
#
#   check_words.sh ROOT           # prints "file:line: message" for each breach; status 1 if there is one
set -euo pipefail
cd "$1"
bad=0

# Prints the sources with comments, string and character literals blanked, as "file:line:code".
code() {
  LC_ALL=C awk '
    FNR == 1 { in_comment = 0 }
    {
      line = $0
      out = ""
      while (length(line) > 0) {
        if (in_comment) {
          end = index(line, "*/")
          if (end == 0) break
          line = substr(line, end + 2)
          in_comment = 0
        } else if (match(line, /^\/\//)) {
          break
        } else if (match(line, /^\/\*/)) {
          in_comment = 1
          line = substr(line, 3)
        } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^\047([^\047\\]|\\.)+\047/)) {
          out = out "\"\""
          line = substr(line, RLENGTH + 1)
        } else {
          out = out substr(line, 1, 1)
          line = substr(line, 2)
        }
      }
      print FILENAME ":" FNR ":" out
    }' "$@"
}

# report MESSAGE PATTERN: the lines of standard input whose code matches.
report() {
  local hits
  hits=$(LC_ALL=C grep -P "^[^:]+:[0-9]+:.*(?:$2)" || true)
  if [[ -n $hits ]]; then
    sed -E "s#^([^:]+:[0-9]+):.*#\1: $1#" <<< "$hits"
    bad=1
  fi
}

mapfile -t library < <(find include libr1 kernels -name '*.[ch]pp' | LC_ALL=C sort)
if [[ ${#library[@]} -eq 0 ]]; then
  echo "$1: no sources found"
  exit 1
fi
stripped=$(code "${library[@]}")
name='(?<![A-Za-z0-9_.>])'
report "the library never reads the environment" "$name(?:std::)?(?:secure_)?getenv\\s*\\(|${name}environ\\b" <<< "$stripped"
report "the library never prints" \
  "\\bstd::(?:cout|cerr|clog|wcout)\\b|$name(?:std::|fmt::)?(?:print|println|printf|vprintf|fprintf|vfprintf|puts|fputs|putchar|perror|dprintf|syslog)\\s*\\(" \
  <<< "$stripped"
report "the library never ends the process" \
  "$name(?:std::|::)?(?:exit|_exit|_Exit|quick_exit|abort|terminate|raise|kill)\\s*\\(|__builtin_trap" <<< "$stripped"
# A private constructor keeps make_unique out, so new is fine when a smart pointer takes it at once.
report "no owning raw pointers: new, delete and malloc are not used" \
  "(?<![A-Za-z0-9_])(?:new\\s+[A-Za-z_:]|delete\\s+[A-Za-z_*(]|delete\\s*\\[)|$name(?:std::)?(?:malloc|calloc|realloc|free)\\s*\\(" \
  < <(sed -E 's/_ptr<[^;]*\(new /_ptr(/' <<< "$stripped")
report "flags come from cmake/R1Isa.cmake only" \
  "#\\s*pragma\\s+(?:GCC|clang)\\s+(?:optimize|target)|__attribute__\\s*\\(\\(\\s*(?:__)?(?:target|optimize)|gnu::(?:target|optimize)" \
  <<< "$stripped"

mapfile -t build < <(find . \( -path ./build -o -path ./.git -o -path ./tests/lint \) -prune -o \
  \( -name CMakeLists.txt -o -name '*.cmake' -o -name 'CMakePresets.json' -o -name '*.sh' -o -path ./.ci/run \) -print)
if [[ ${#build[@]} -gt 0 ]]; then
  # Comments may name a flag to forbid it; code may not.
  report "flag that changes results or ties the build to this machine" \
    '-march=native|-mtune=native|-mcpu=native|-ffast-math|-Ofast|-funsafe-math|-fassociative-math|-freciprocal-math|-ffinite-math|-flto' \
    < <(awk '{ sub(/(^|[ \t])#.*/, ""); print FILENAME ":" FNR ":" $0 }' "${build[@]}" | sed 's|^\./||')
fi

mapfile -t texts < <(find . \( -path './build*' -o -path ./.git -o -path ./tests/lint -o -path ./tests/data \
  -o -path ./models \) -prune -o -type f \( -name '*.[ch]pp' -o -name '*.md' -o -name '*.txt' -o -name '*.cmake' \
  -o -name '*.sh' -o -name '*.json' -o -name '*.py' -o -path ./.ci/run \) -print)
report "unfinished work is done or written down in docs, not marked" '\b(?:TODO|FIXME|XXX)\b' \
  < <(grep -nE 'TODO|FIXME|XXX' ${texts[@]+"${texts[@]}"} /dev/null | sed 's|^\./||')
exit $bad
