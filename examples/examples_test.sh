#!/bin/bash
# Runs each example job small, under different knobs: every setting must give the same bytes, and a
# report that can be read. Usage: examples_test.sh DIR-OF-THE-BUILT-EXAMPLES
set -euo pipefail
built=$1
source=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive PYTHONDONTWRITEBYTECODE=1

# same OUTPUT WORK COMMAND...: runs it and compares its output with the first run of this output.
same() {
  local output=$1 amount=$2 first="$work/$1.first"
  shift 2
  local out
  out=$(mktemp -d "$work/out.XXXXXX")
  if ! AMDAHL_OUT="$out" AMDAHL_REPORT="$out/report" "$@" >"$out/said" 2>&1; then
    echo "FAILED: $*"
    cat "$out/said"
    failures=$((failures + 1))
    return
  fi
  if [ ! -e "$first" ]; then
    cp "$out/$output" "$first"
  elif ! cmp "$first" "$out/$output"; then
    echo "DIFFERS: $*"
    failures=$((failures + 1))
  fi
  if ! /usr/bin/python3 - "$out/report" "$amount" <<'CHECK'; then
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
totals = [line["work"] for line in lines if "work" in line and "step" not in line]
assert totals == [int(sys.argv[2])], "work"
spans = [line for line in lines if "phase" in line]
assert spans, "no phases"
assert all(span["end"] >= span["start"] > 1e9 for span in spans), "a phase ends before it starts"
busy = [line for line in lines if "accelerator" in line]
assert all(0 <= line["busy"] <= 1 and line["to"] > line["from"] for line in busy), "busy"
CHECK
    echo "BAD REPORT: $*"
    failures=$((failures + 1))
  fi
}

offline_eval() {
  if ! /usr/bin/python3 -c 'import torch, PIL' 2>"$work/why"; then
    echo "skipped offline_eval: $(tail -1 "$work/why")"
    return
  fi
  local job=("/usr/bin/python3" "$source/offline_eval/evaluate.py" --data "$work/data")
  /usr/bin/python3 "$source/offline_eval/make_data.py" "$work/data" --count 40
  same predictions.json 40 "${job[@]}" --verify --fsync
  same predictions.json 40 "${job[@]}" --batch 32 --persistent-workers --prefetch 4
  same predictions.json 40 "${job[@]}" --batch 8 --cache "$work/decoded" --workers 1 --lazy-imports
  same predictions.json 40 "${job[@]}" --batch 32 --cache "$work/decoded" --workers 0 --threads 1 \
    --lazy-imports --inference-mode --log-every 20 --range-check-every 20 --checkpoint-every 50
}

step_loop() {
  if ! /usr/bin/python3 -c 'import torch' 2>"$work/why"; then
    echo "skipped step_loop: $(tail -1 "$work/why")"
    return
  fi
  local job=("/usr/bin/python3" "$source/step_loop/score.py")
  same classes.json 256 "${job[@]}" --steps 64 --batch 4
  same classes.json 256 "${job[@]}" --steps 16 --batch 16 --inference-mode --range-check-every 5
  # As two arms in turn: each step under its arm's settings, in the order of the schedule.
  echo ABBABAAB >"$work/schedule"
  local arms='{"A": {"args": {"--batch": "4", "--inference-mode": null}},
               "B": {"args": {"--batch": "60", "--inference-mode": ""}}}'
  AMDAHL_STEPS="$work/schedule" AMDAHL_STEPS_ARMS="$arms" \
    same classes.json 256 "${job[@]}" --batch 4
  if ! /usr/bin/python3 - "$work"/out.*/report <<'CHECK'; then
import json, sys
steps = [json.loads(line) for path in sys.argv[1:] for line in open(path) if '"step"' in line]
assert [step["step"] for step in steps] == list(range(8)), steps
assert [step["arm"] for step in steps] == list("ABBABAAB"), steps
assert [step["work"] for step in steps] == [4, 60, 60, 4, 60, 4, 4, 60], steps
assert all(step["seconds"] > 0 for step in steps), steps
CHECK
    echo "BAD STEPS"
    failures=$((failures + 1))
  fi
}

device_queue() {
  local job="$built/device_queue/device_queue"
  if [ ! -x "$job" ]; then
    echo "skipped device_queue: it was not built"
    return
  fi
  local cache=(--items 1500 --kernel-cache "$work/kernels")
  same scores.bin 1500 "$job" --items 1500
  same scores.bin 1500 "$job" "${cache[@]}" --batch 256 --queue-depth 4 --overlap-copies
  same scores.bin 1500 "$job" "${cache[@]}" --batch 256 --metric-every 20 --range-check-every 20
  same scores.bin 1500 "$job" "${cache[@]}" --batch 7 --queue-depth 3 --metric-every 0 \
    --range-check-every 1000
}

tuned() {
  local job="$built/tuned/tuned_batch"
  if [ ! -x "$job" ]; then
    echo "skipped tuned: it was not built"
    return
  fi
  same labels.bin 3000 "$job" --items 3000
  same labels.bin 3000 "$job" --items 3000 --batch 2048
  same labels.bin 3000 "$job" --items 3000 --batch 64 --threads 2
}

offline_eval
step_loop
device_queue
tuned
echo "$failures failed"
[ "$failures" -eq 0 ]
