#!/bin/bash
# Builds everything and runs every test, in three runs: preset ci (warnings are errors, all tests), preset asan-ubsan
# (unit, golden and fuzz tests under AddressSanitizer and UndefinedBehaviorSanitizer), preset aarch64 (kernels, golden
# answers and start-up for ARM, cross-compiled and emulated; skipped where Debian's cross compiler, qemu-user and the ARM
# libraries cannot be had). Installs what is missing first. The last line is "N passed, N failed", over all runs; the
# exit status is 0 only when nothing failed.
#
#   tests/run.sh                  # all
#   tests/run.sh --quick          # preset ci only
#   tests/run.sh -R unit_text     # further options go to ctest, in all runs
set -uo pipefail
cd "$(dirname "$0")/.."

presets=(ci asan-ubsan)
arm=yes
ctest_options=()
for argument in "$@"; do
  case $argument in
    --quick)
      presets=(ci)
      arm=no
      ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) ctest_options+=("$argument") ;;
  esac
done

jobs=$(nproc)
passed=0
failed=0
skipped=0
started=$SECONDS

step() { echo "== [$((SECONDS - started)) s] $*"; }

# A step that is not a test but has to work counts as one failure.
finish() {
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
  exit
}
must() {
  if ! "$@"; then
    echo "failed: $*"
    failed=$((failed + 1))
    finish
  fi
}

# The number that a JUnit report's <testsuite> gives for one attribute.
count() { sed -n "s/^[[:space:]]*$2=\"\([0-9]*\)\".*/\1/p;s/.*<testsuite.* $2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1; }

run() {
  local preset=$1
  shift
  step "$preset: configure"
  must cmake --preset "$preset"
  step "$preset: build"
  must cmake --build --preset "$preset" --parallel "$jobs"
  step "$preset: test"
  local report=$PWD/build/$preset/report.xml
  rm -f "$report"
  ctest --preset "$preset" --parallel "$jobs" --output-junit "$report" "$@"
  local status=$?
  if [[ ! -f $report ]]; then
    must false "ctest wrote no report"
  fi
  local total bad off
  total=$(count "$report" tests)
  bad=$(count "$report" failures)
  off=$(($(count "$report" disabled) + $(count "$report" skipped)))
  if [[ $status -ne 0 && $bad -eq 0 ]]; then
    bad=1
  fi
  passed=$((passed + total - bad - off))
  failed=$((failed + bad))
  skipped=$((skipped + off))
}

step "packages"
must tools/install_packages.sh test
for preset in "${presets[@]}"; do
  run "$preset" ${ctest_options[@]+"${ctest_options[@]}"}
done
if [[ $arm == yes && $(uname -m) != aarch64 ]]; then
  step "aarch64: packages"
  if tools/install_packages.sh cross; then
    run aarch64 ${ctest_options[@]+"${ctest_options[@]}"}
  else
    echo "SKIPPED: the tests for ARM, which need the cross compiler, qemu-user and ARM libraries from Debian's mirror"
  fi
fi
step "done, $skipped skipped"
finish
