#!/bin/bash
# Holds the include rules of docs/architecture.md: who may include whom, and which third-party library has which door.
#
#   check_includes.sh ROOT        # prints "file:line: message" for each breach; status 1 if there is one
set -euo pipefail
cd "$1"

mapfile -t files < <(find include libr1 kernels tools bench -name '*.[ch]pp' 2> /dev/null | LC_ALL=C sort)
if [[ ${#files[@]} -eq 0 ]]; then
  echo "$1: no sources found"
  exit 1
fi

LC_ALL=C awk '
  BEGIN {
    # libr1, lowest folder first: a folder includes itself and lower ones.
    count = split("base gguf text model runtime sampling engine convert", order, " ")
    for (i = 1; i <= count; ++i) rank[order[i]] = i
    # Tiers whose traits are another tier and a few instructions more.
    extends["avx_vnni"] = "avx2"
    extends["neon_dotprod"] = "neon"
    bad = 0
  }

  function fail(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message
    bad = 1
  }

  function starts(text, prefix) { return substr(text, 1, length(prefix)) == prefix }

  # The third-party library that a system header belongs to, or "".
  function library(header) {
    if (starts(header, "tbb/") || starts(header, "oneapi/")) return "oneTBB"
    if (starts(header, "xsimd/")) return "xsimd"
    if (starts(header, "fmt/")) return "fmt"
    if (starts(header, "nlohmann/")) return "JSON"
    if (header == "utf8proc.h") return "utf8proc"
    if (starts(header, "curl/")) return "libcurl"
    if (starts(header, "boost/")) return "Boost"
    if (starts(header, "CLI/")) return "CLI11"
    if (starts(header, "editline/") || header == "histedit.h") return "libedit"
    if (starts(header, "catch2/")) return "Catch2"
    if (starts(header, "benchmark/")) return "Benchmark"
    return ""
  }

  # Standard library headers have neither a folder nor an ending.
  function is_std(header) { return header !~ /[\/.]/ }

  function is_container(header) {
    return header ~ /^(vector|string|map|set|unordered_map|unordered_set|deque|list|forward_list|queue|stack|memory|functional|optional|variant|any|iostream|sstream|fstream|ostream|istream|regex|thread|mutex|future|filesystem|locale|span|string_view)$/
  }

  FNR == 1 {
    split(FILENAME, part, "/")
    area = part[1]
    folder = part[2]
    header_file = FILENAME ~ /\.hpp$/
    # What a tier compiles with its own flags; kernels/formats headers are part of it.
    tier_code = area == "kernels" && (folder ~ /^(isa|generic|api)$/ || (folder == "formats" && header_file))
    if (area == "libr1" && !(folder in rank)) fail("libr1/" folder " is not one of the layers of docs/architecture.md")
  }

  !/^[ \t]*#[ \t]*include[ \t]*[<"]/ { next }

  {
    name = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
    quoted = substr(name, 1, 1) == "\""
    name = substr(name, 2)
    sub(/[>"].*$/, "", name)
    split(name, to, "/")
    owner = quoted ? "" : library(name)
    if (name ~ /(^|\/)\.\.?\//) fail("relative include of " name "; expected a path from the root")
  }

  area == "include" {
    if (quoted ? !starts(name, "r1/") : !is_std(name)) fail("include/r1 may include std and itself, got " name)
  }

  area == "libr1" && quoted {
    if (starts(name, "r1/")) next
    if (starts(name, "libr1/")) {
      if (!(to[2] in rank)) fail("no such layer: " name)
      else if (rank[to[2]] > rank[folder]) fail("upward include: " folder " may not include " name)
    } else if (starts(name, "kernels/api/")) {
      # gguf maps type numbers of files to weight types; base and text have no business with weights.
      if (folder ~ /^(base|text)$/) fail(folder " may not include kernels, got " name)
    } else if (starts(name, "kernels/")) {
      fail("libr1 may include kernels/api only, got " name)
    } else {
      fail("libr1 may include r1/, libr1/ and kernels/api/, got " name)
    }
  }

  area == "libr1" && !quoted && owner != "" {
    if (owner == "oneTBB" && folder == "base") next
    if (owner == "utf8proc" && folder == "text") next
    if (owner == "JSON" && folder ~ /^(text|convert)$/) next
    if (owner == "fmt" && !header_file) next
    fail(owner " has no door in libr1/" folder (header_file ? " headers" : "") ", got " name)
  }

  area == "kernels" && quoted {
    if (!starts(name, "kernels/")) fail("kernels may include kernels/ only, got " name)
    else if (folder == "api" && to[2] != "api") fail("kernels/api may include itself only, got " name)
    else if (to[2] == "reference" && folder != "reference") fail("kernels/reference is for tests only, got " name)
    else if (to[2] == "isa" && (folder != "isa" || (to[3] != part[3] && to[3] != extends[part[3]])))
      fail("a tier is included by itself and by its extension only, got " name)
  }

  area == "kernels" && !quoted {
    if (owner != "" && owner != "xsimd") fail(owner " has no door in kernels, got " name)
    if (owner == "xsimd" && folder !~ /^(isa|generic)$/) fail("xsimd is for kernels/isa and kernels/generic, got " name)
    if (tier_code && is_container(name)) fail("code of a tier includes no std containers, got " name)
  }

  area == "tools" {
    if (quoted && (starts(name, "libr1/") || starts(name, "kernels/"))) fail("tools may include include/r1 only, got " name)
    if (owner ~ /^(oneTBB|xsimd|utf8proc|libcurl|Catch2|Benchmark)$/) fail(owner " has no door in tools, got " name)
  }

  END { exit bad }
' "${files[@]}"
