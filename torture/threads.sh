#!/bin/sh
# threads.sh BUILD TEST..: tests of a build with the thread sanitizer (`cmake --preset threads`). Archer, which comes with clang's
# OpenMP, tells the sanitizer which of our threads wait for which; OpenBLAS, which knows neither, stays on one. No suppressions.
set -eu
build=$1
shift
export OMP_NUM_THREADS=3 OPENBLAS_NUM_THREADS=1 OMP_TOOL_LIBRARIES=/usr/lib/llvm-14/lib/libarcher.so
export TSAN_OPTIONS=ignore_noninstrumented_modules=1 STONET_GOLDEN="$PWD" STONET_PROGRAM="$build/bin/stonet"
for test in "$@"; do
    # The sanitizer of clang 14 wants addresses where they always were.
    setarch -R "$build/tests/test_$test" > "$build/$test.log" 2>&1 || { tail -n 60 "$build/$test.log"; echo "threads: $test"; exit 1; }
done
echo "threads: no race in $*"
