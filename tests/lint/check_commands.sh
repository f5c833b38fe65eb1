#!/bin/bash
# Holds that flags of an instruction tier reach that tier's sources and nothing else: reads the build's
# compile_commands.json (case: a program built on a new machine dies on an older one).
#
#   check_commands.sh compile_commands.json
set -euo pipefail

LC_ALL=C awk '
  /^[ \t]*"command"[ \t]*:/ { command = $0 }
  /^[ \t]*"file"[ \t]*:/ {
    file = $0
    sub(/^[ \t]*"file"[ \t]*:[ \t]*"/, "", file)
    sub(/".*$/, "", file)
    ++files
    in_tier = file ~ /\/kernels\/isa\/[^\/]+\/[^\/]+\.cpp$/
    tiers += in_tier
    # On ARM an extension comes with an architecture version; there is no flag for it alone.
    if (file ~ /\/kernels\/isa\/neon_dotprod\//) sub(/ -march=armv8\.2-a\+dotprod /, " ", command)
    if (match(command, / -(march|mtune|mcpu)=[^ ]*| -Ofast| -ffast-math| -funsafe-math[^ ]*| -flto[^ ]*/))
      fail("forbidden flag" substr(command, RSTART, RLENGTH))
    if (!in_tier && match(command, / -m(sse|ssse|avx|fma|f16c|bmi|popcnt|aes|amx|lzcnt|movbe)[^ ]*/))
      fail("flag of a tier outside kernels/isa:" substr(command, RSTART, RLENGTH))
    if (file ~ /\/kernels\// && file !~ /\/kernels\/reference\// && command !~ / -ffp-contract=off( |")/)
      fail("expected -ffp-contract=off")
    # The last -O wins.
    level = command
    sub(/^.* -O/, "", level)
    if (in_tier && (command !~ / -O/ || substr(level, 1, 1) !~ /[23]/)) fail("expected -O2 or -O3")
    if (in_tier && command !~ / -Dxsimd=xsimd_/) fail("expected -Dxsimd=xsimd_<tier>")
  }
  function fail(message) {
    print file ": " message
    bad = 1
  }
  END {
    if (files == 0 || tiers == 0) {
      print FILENAME ": expected compile commands of tiers, got " files + 0 " commands, " tiers + 0 " of tiers"
      bad = 1
    }
    exit bad
  }
' "$1"
