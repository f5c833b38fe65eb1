#!/bin/bash
# Installs what the project is built from on Debian 12: only packages that are missing, with sudo when not root.
# It is called by tools/quickstart.sh and tests/run.sh and does nothing on a machine that has everything.
#
#   tools/install_packages.sh [build|test]      # build: compiler and libraries; test: Catch2 and binutils as well
#   tools/install_packages.sh --list [build|test]
set -euo pipefail

list_only=no
if [[ ${1:-} == --list ]]; then
  list_only=yes
  shift
fi
purpose=${1:-build}

packages=(g++ cmake ninja-build pkg-config ccache libxsimd-dev libtbb-dev libfmt-dev nlohmann-json3-dev
          libutf8proc-dev libcli11-dev libedit-dev)
case $purpose in
  build) ;;
  test) packages+=(catch2 binutils) ;;
  *)
    echo "install_packages.sh: unknown purpose '$purpose'; expected build or test" >&2
    exit 2
    ;;
esac
if [[ $list_only == yes ]]; then
  echo "${packages[*]}"
  exit 0
fi

# On other distributions CMake names what it cannot find.
if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null || true)
  if [[ $status != installed ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo > /dev/null; then
    echo "Packages are missing and there is no sudo. As root, run:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@"
}

echo "Installing ${missing[*]}"
if ! compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null; then
  apt update
fi
# Old lists name packages that the mirror no longer has, so a failure is tried again with new ones.
if ! apt install --no-install-recommends "${missing[@]}"; then
  apt update
  apt install --no-install-recommends "${missing[@]}"
fi
