#!/bin/bash
# Holds that the documentation tells the truth where a program can tell: the C++ block of the READMEs is the example that
# is compiled, files and presets in command lines exist, links lead somewhere, flags are in r1-generate's --help.
#
#   check_readme.sh ROOT [R1_GENERATE]      # without the program the flags are not looked at
set -euo pipefail
program=${2:-}
if [[ -n $program ]]; then
  program=$(realpath "$program")
fi
cd "$1"
bad=0
fail() {
  echo "$1"
  bad=1
}

# fenced FILE LANGUAGES: the lines of the code blocks in one of the languages (a|b).
fenced() {
  awk -v languages="^(${2})$" '
    /^[ \t]*```/ {
      if (open) { open = 0; wanted = 0; next }
      language = $0
      sub(/^[ \t]*```/, "", language)
      open = 1
      wanted = language ~ languages
      next
    }
    open && wanted { print }' "$1"
}

for readme in README.md README.zh-CN.md; do
  if [[ ! -f $readme ]]; then
    fail "$readme: no such file"
    continue
  fi
  if ! diff -u --label "$readme" --label docs/examples/chat.cpp \
    <(fenced "$readme" 'cpp|c\+\+') docs/examples/chat.cpp; then
    fail "$readme: the C++ block differs from docs/examples/chat.cpp"
  fi
done

mapfile -t pages < <(find . -maxdepth 1 -name '*.md'; find docs models -name '*.md' 2> /dev/null)
for page in "${pages[@]}"; do
  folder=$(dirname "$page")
  while IFS= read -r word; do
    word=${word#./}
    if [[ ! -e $word ]]; then
      fail "$page: command names $word, which does not exist"
    fi
  done < <(fenced "$page" 'sh|bash|console|shell' | grep -oE '(^|[[:space:]])(\./)?(tools|tests|docs|models|cmake|\.ci)/[A-Za-z0-9_./-]+' | tr -d '[:blank:]' | sort -u)
  while IFS= read -r preset; do
    if ! grep -q "\"name\": \"$preset\"" CMakePresets.json; then
      fail "$page: no such preset: $preset"
    fi
  done < <(fenced "$page" 'sh|bash|console|shell' | grep -oE -- '(--preset[ =]|build/)[a-z][a-z-]*' | sed -E 's/^(--preset[ =]|build\/)//' | sort -u)
  while IFS= read -r link; do
    if [[ ! -e $folder/$link ]]; then
      fail "$page: link to $link, which does not exist"
    fi
  done < <(grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -vE '^[a-z]+:' | sort -u)
done

if [[ -n $program ]]; then
  # A flag is two dashes, or one dash and one letter, at the start of a word.
  flags() { grep -oE -- '(^|[^A-Za-z0-9_-])--[a-z][a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | sort -u; }
  help=$("$program" --help | flags)
  if [[ -z $help ]]; then
    fail "$program: --help names no flags"
  fi
  # In the READMEs: lines that call r1-generate or quickstart.sh, and the rows of the table of flags.
  for page in README.md README.zh-CN.md; do
    while IFS= read -r flag; do
      fail "$page: $flag is not in r1-generate --help"
    done < <(comm -13 <(echo "$help") <(grep -E 'r1-generate|quickstart\.sh|^\| *`-' "$page" | flags))
  done
  manual=docs/r1-generate.md
  if [[ -f $manual ]]; then
    while IFS= read -r flag; do
      fail "$manual: $flag of r1-generate --help is not described"
    done < <(comm -23 <(echo "$help") <(flags < "$manual"))
  fi
fi
exit $bad
