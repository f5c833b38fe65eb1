#!/bin/bash
# Installs what the project is built from on Debian 12: only packages that are missing, with sudo when not root.
# It is called by tools/quickstart.sh and tests/run.sh and does nothing on a machine that has everything.
#
#   tools/install_packages.sh [build|test]      # build: compiler and libraries; test: Catch2 and binutils as well
#   tools/install_packages.sh cross             # cross compiler and emulator for AArch64 (preset aarch64)
#   tools/install_packages.sh --list [build|test|cross]
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
  cross) packages=(cmake ninja-build pkg-config ccache g++-aarch64-linux-gnu qemu-user) ;;
  *)
    echo "install_packages.sh: unknown purpose '$purpose'; expected build, test or cross" >&2
    exit 2
    ;;
esac
if [[ $list_only == yes ]]; then
  echo "${packages[*]}"
  exit 0
fi

# On other distributions CMake names what it cannot find; the ARM libraries come as Debian packages only.
if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  [[ $purpose != cross ]]
  exit
fi

install_missing() {
  local missing=() as_root=() package status
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null || true)
    if [[ $status != installed ]]; then
      missing+=("$package")
    fi
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo > /dev/null; then
      echo "Packages are missing and there is no sudo. As root, run:" >&2
      echo "  apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q)

  echo "Installing ${missing[*]}"
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null; then
    "${apt[@]}" update
  fi
  # Old lists name packages that the mirror no longer has, so a failure is tried again with new ones.
  if ! "${apt[@]}" install --no-install-recommends "${missing[@]}"; then
    "${apt[@]}" update
    "${apt[@]}" install --no-install-recommends "${missing[@]}"
  fi
}

# The ARM libraries are not installed but unpacked into build/aarch64-root, for which nobody has to be root: apt would
# want the machine's own libraries in the very versions of the foreign ones and replace many of them. What the cross
# compiler brings (the C and C++ libraries) is left out.
unpack_arm_libraries() {
  local libraries=(catch2 libbsd-dev libbsd0 libcli11-dev libedit-dev libedit2 libfmt-dev libfmt9 libmd-dev libmd0
                   libncurses-dev libtbb-dev libtbb12 libtbbbind-2-5 libtbbmalloc2 libtinfo6 libutf8proc-dev
                   libutf8proc2 libxsimd-dev nlohmann-json3-dev)
  local root=$PWD/build/aarch64-root
  if [[ -f $root/unpacked && $(< "$root/unpacked") == "${libraries[*]}" ]]; then
    return
  fi
  echo "Unpacking into $root: ${libraries[*]}"
  rm -rf "$root"
  mkdir -p "$root"/apt/{lists,cache/archives}/partial
  : > "$root/apt/status"
  local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
             -o "Dir::State=$root/apt" -o "Dir::State::status=$root/apt/status" -o "Dir::Cache=$root/apt/cache")
  "${apt[@]}" update
  (cd "$root/apt" && "${apt[@]}" download "${libraries[@]}")
  local file
  for file in "$root"/apt/*.deb; do
    dpkg-deb -x "$file" "$root"
  done
  rm -rf "$root/apt"
  echo "${libraries[*]}" > "$root/unpacked"
}

install_missing
if [[ $purpose == cross ]]; then
  cd "$(dirname "$0")/.."
  unpack_arm_libraries
fi
