#!/usr/bin/env bash
# test.sh BUILD: builds for 64-bit ARM with Debian's cross compiler and runs the tests of the library in qemu, but for those that it
# names with the reason; sees that a big-endian processor is refused. ALL=1: those that take long, too.
set -euo pipefail
build=$(realpath -m "${1:?usage: test.sh BUILD}")
cd "$(dirname "$0")/../.."
mkdir -p "$build"

cat > "$build/s390x.cmake" <<'END'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
END
rm -rf "$build/big-endian"
if said=$(cmake -S . -B "$build/big-endian" --toolchain "$build/s390x.cmake" 2>&1) || ! grep -q 'needs a little-endian' <<< "$said"; then
    echo "a big-endian processor is not refused: $said" >&2
    exit 1
fi
echo "big-endian (s390x): refused"

export STONET_SYSROOT=$build/sysroot
tools/cross/sysroot.sh arm64 "$STONET_SYSROOT"
cmake -G Ninja -S . -B "$build/build" --toolchain "$PWD/cmake/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release -DSTONET_WERROR=ON \
    > /dev/null
tests=$(ctest --test-dir "$build/build" -N | awk '/Test +#/ {print $3}')
leave_out() { # REASON PATTERN
    echo "left out, $1:"
    { grep -E "$2" <<< "$tests" || echo none; } | paste -sd ' ' | fold -sw 100 | sed 's/^/    /'
    tests=$(grep -vE "$2" <<< "$tests")
}
leave_out "since they start the program or a compiler, and this machine's kernel runs no ARM programs" \
    '^(cli|paper|torture|demo|scratch|fuzz|includes|export)'
leave_out "since they need a GPU or its emulation" '^engine_cuda|_emulated$'
leave_out "since it counts the threads of the process, of which qemu has one of its own" '^model_use_threads$'
# whole fits, and draws by the thousand for the level of a test: more than a second where qemu is not between
long=(
    engine_cpu explain_coef explain_importance
    methods_edges methods_ensembles methods_linear methods_lsmie methods_neural methods_recovery
    model_by_rows model_checkpoint model_defaults model_finite model_fit_more model_missing model_model model_network_files
    model_locale model_offsets model_safetensors model_sufficiency model_support model_tensors model_threads model_use model_weights
    order_order refit_calibrate refit_standard_errors report_report select_select
    stats_chisq_mixture stats_conformal stats_gcm stats_independence
    stonet_front stonet_joint stonet_oracles stonet_residuals stonet_response stonet_select stonet_sparse stonet_train
    stonet_wide
)
[ "${ALL:-}" = 1 ] || leave_out "since they take minutes in qemu (ALL=1 runs them too)" "^($(IFS="|"; echo "${long[*]}"))\$"
# shellcheck disable=SC2046 # a list; one program serves several tests
cmake --build "$build/build" -j "$(nproc)" --target $(sed 's/_portable$//; s/^/test_/' <<< "$tests" | sort -u) > /dev/null
OMP_NUM_THREADS=2 ctest --test-dir "$build/build" --output-on-failure --no-tests=error -j "$(nproc)" -R "^($(paste -sd '|' <<< "$tests"))\$"
