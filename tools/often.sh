#!/usr/bin/env bash
# Runs the tests of a build folder many times in a row and stops at the first failure: a test that fails by chance
# is a defect of the test.
#
#     tools/often.sh TIMES [BUILD] [COMMAND ..]
#
# A COMMAND goes before the test runner, e.g. `tools/often.sh 20 build taskset -c 0`; for a busy machine start
# `stress-ng --cpu 8` beside it. CTEST_ARGUMENTS are handed on, e.g. CTEST_ARGUMENTS='-R cli_'.
set -euo pipefail
times=${1:?usage: tools/often.sh TIMES [BUILD] [COMMAND ..]}
build=${2:-build}
shift $(($# > 1 ? 2 : 1))
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for ((run = 1; run <= times; run++)); do
    start=$SECONDS
    # shellcheck disable=SC2086 # the arguments are meant to split
    if ! "$@" ctest --test-dir "$build" --output-on-failure -j "$(nproc)" ${CTEST_ARGUMENTS:-} > "$log" 2>&1; then
        cat "$log"
        echo "run $run of $times failed" >&2
        exit 1
    fi
    echo "run $run of $times: $(grep 'tests passed' "$log"), $((SECONDS - start)) s"
done
