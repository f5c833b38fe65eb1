#!/bin/bash
# From a fresh clone to an answer: installs what is missing (Debian 12), builds r1-generate, asks the embedded model.
#
#   tools/quickstart.sh                             # the default question
#   tools/quickstart.sh "question"                  # your own
#   tools/quickstart.sh --model FILE.gguf ...       # any arguments of r1-generate
set -euo pipefail
caller=$PWD  # file names in the arguments are meant from there
cd "$(dirname "$0")/.."

default_question='鸡兔同笼，共35个头，94只脚，问鸡兔各几只？'

case ${1:-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tools/quickstart.sh
    exit 0
    ;;
esac

step() { echo "== $*" >&2; }

step "packages"
tools/install_packages.sh build >&2
step "configure"
if [[ ! -f build/release/build.ninja ]]; then
  cmake --preset release >&2
fi
step "build"
cmake --build --preset release --target r1-generate --parallel "$(nproc)" >&2
step "answer"

program=$PWD/$(find build/release -type f -name r1-generate -perm -u+x | head -n 1)
cd "$caller"
if [[ $# -eq 0 ]]; then
  exec "$program" --prompt "$default_question"
elif [[ $1 == -* ]]; then
  exec "$program" "$@"
fi
exec "$program" --prompt "$*"
