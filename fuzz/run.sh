#!/bin/sh
# Runs every fuzz target from its corpus: run.sh BIN CORPUS SECONDS [JOBS]. With FUZZ_RUNS every target makes that many executions
# instead (20 s of them at most), from a fixed seed and in one process, so that the same tree gives the same answer: what a gate
# needs. BIN has the programs fuzz-TARGET, CORPUS a folder a target. JOBS processes run at the same time (as many as there are cores
# unless told), those of one target share what they find, in BIN/found/TARGET; with fewer jobs than targets these take turns.
# SECONDS are those of the whole. Inputs that fail are kept as BIN/failed/TARGET-*, and the process that found one ends. Prints
# executions, coverage and failures of each target, what failed and its inputs, and fails when there was one.
set -eu
bin=$(realpath "$1")
corpus=$(realpath "$2")
seconds=$3
jobs=${4:-$(nproc)}
targets=$(cd "$corpus" && ls)
if [ -n "${FUZZ_RUNS:-}" ]; then
    rm -rf "$bin/found" "$bin/failed"
    limit="-runs=$FUZZ_RUNS -seed=1 -max_total_time=20" # seconds, for what is slow
fi
count=$(echo "$targets" | wc -w)
rounds=$(((count + jobs - 1) / jobs))
limit=${limit:--max_total_time=$((seconds / rounds))}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export ASAN_OPTIONS=allocator_may_return_null=1:clear_shadow_mmap_threshold=100000000:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
mkdir -p "$bin/failed" "$bin/logs"
rm -f "$bin"/logs/*

start() { # TARGET K
    mkdir -p "$bin/found/$1"
    # shellcheck disable=SC2086 # several words
    "$bin/fuzz-$1" $limit -print_final_stats=1 -reload=30 -rss_limit_mb=3000 -timeout=60 -report_slow_units=60 \
        -max_len=8192 -close_fd_mask=3 -artifact_prefix="$bin/failed/$1-" "$bin/found/$1" "$corpus/$1" \
        > "$bin/logs/$1.$2" 2>&1 < /dev/null || : # failures are counted by what they leave
}

k=0
processes=$count
[ -n "${FUZZ_RUNS:-}" ] || [ "$jobs" -le "$count" ] || processes=$jobs
while [ "$k" -lt "$processes" ]; do
    for target in $targets; do
        [ "$k" -lt "$processes" ] || break
        start "$target" "$k" &
        k=$((k + 1))
        [ $((k % jobs)) -ne 0 ] || wait
    done
done
wait

all=0
for target in $targets; do
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$bin/logs/$target".* | awk '{sum += $1} END {print sum + 0}')
    covered=$(grep -ho 'cov: [0-9]*' "$bin/logs/$target".* | sort -k 2 -n | tail -n 1)
    edges=$(sed -n 's/.*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$bin/logs/$target".* | head -n 1)
    failed=$(find "$bin/failed" -name "$target-*" | wc -l)
    printf '%-8s %11d executions, %s of %s edges, %d failures\n' "$target" "$runs" "$covered" "$edges" "$failed"
    all=$((all + runs))
    [ "$runs" -gt 0 ] || { tail -n 20 "$bin/logs/$target".*; exit 1; } # it did not even start
done
echo "all $all executions"
[ -n "$(ls "$bin/failed")" ] || exit 0
for failed in "$bin"/failed/*; do # so that it can be run again where nothing else is kept
    target=$(basename "$failed" | cut -d- -f1)
    grep -h -m 1 -A 12 'ERROR: \|deadly signal' "$bin/logs/$target".* || :
    printf '%s:\n' "$(basename "$failed")"
    head -c 8192 "$failed" | base64
done
exit 1
