# lib.sh: functions shared by the scripts. Source it; the caller has set -euo pipefail.
# shellcheck shell=bash

# The repository root, independent of the caller's working folder.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ROOT

# Colour only on a terminal.
if [[ -t 2 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  BOLD=$'\033[1m' RED=$'\033[31m' DIM=$'\033[2m' PLAIN=$'\033[0m'
else
  BOLD='' RED='' DIM='' PLAIN=''
fi

# step TEXT...: prints progress to stderr, so that stdout has only results.
step() { printf '%s==>%s %s\n' "$BOLD" "$PLAIN" "$*" >&2; }

# note TEXT...: prints a less important remark to stderr.
note() { printf '%s    %s%s\n' "$DIM" "$*" "$PLAIN" >&2; }

# die TEXT...: prints what failed and what to do next, and exits with 3 (failed).
die() {
  printf '%s%s: %s%s\n' "$RED" "$(basename "$0")" "$*" "$PLAIN" >&2
  exit 3
}

# wrong_use TEXT...: the same for a wrong command line; exits with 2.
wrong_use() {
  printf '%s%s: %s%s\n' "$RED" "$(basename "$0")" "$*" "$PLAIN" >&2
  printf 'try: %s --help\n' "$0" >&2
  exit 2
}

# help_of FILE: the comment block at the head of a script is its help page.
help_of() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$1"; }

# build_jobs: number of parallel compilers: one per core, if there is 1.5 GB of memory for each.
build_jobs() {
  local cores room
  cores=$(nproc)
  room=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
  if ((room < 1)); then room=1; fi
  echo "${AMDAHL_JOBS:-$((cores < room ? cores : room))}"
}

# configure_and_build PRESET [TARGET...]: builds build/PRESET, or only these targets.
configure_and_build() {
  local preset=$1 jobs log
  shift
  jobs=$(build_jobs)
  log=$(mktemp)
  step "configure $preset"
  # Show CMake output only on failure.
  if ! cmake -S "$ROOT" --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "configuring $preset failed; if a package is missing, run ./script/bootstrap"
  fi
  rm -f "$log"
  step "build $preset with $jobs jobs"
  NINJA_STATUS='[%f/%t %es] ' cmake --build "$ROOT/build/$preset" -j "$jobs" ${1:+--target "$@"} >&2 ||
    die "building $preset failed; the first error is above"
}
