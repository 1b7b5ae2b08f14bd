#!/usr/bin/env bash
# check.sh NAME..        runs these checks; `make check-NAME` does the same
# check.sh --list        the checks that must hold before a change lands, in order: what .ci/run runs
# check.sh --list forge  these, and what the forge runs besides, as JSON: what .github/workflows/checks.yml runs
#
# Each works on a clean checkout: it installs the packages it needs and builds what it looks at, in $BUILD (build) and in
# folders beside it, where it finds again what an earlier check has built. JOBS (all processors) work at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
landing=(format pages words includes install test gpu bench sanitize threads fuzz readme docs abi deb python r tidy)
forge=(clang onnx deb-fresh cross)
# and, by hand, for hours: torture coverage levels paper r-torture r-compare release

BUILD=${BUILD:-build} JOBS=${JOBS:-$(nproc)} VENV=${VENV:-.venv}
if [ -z "${STONET_DATA:-}" ] && [ -d ../shared/data ]; then
    STONET_DATA=$(cd ../shared/data && pwd)
    export STONET_DATA
fi
export OMP_WAIT_POLICY=passive
programs=$PWD/$BUILD
[[ $BUILD != /* ]] || programs=$BUILD

setup() { tools/setup.sh "$@"; }
programs() { setup build && make --no-print-directory build-programs BUILD="$BUILD" JOBS="$JOBS"; }
configure() { # PRESET FOLDER [OPTION..]
    cmake --preset "$1" -B "$2" "${@:3}" > /dev/null
}
build() { # FOLDER [OPTION..]
    cmake --build "$1" -j "$JOBS" "${@:2}"
}
run_tests() { # FOLDER
    ctest --test-dir "$1" --output-on-failure --no-tests=error -j "$JOBS"
}
# Several checks compile the same sources with the same flags in folders of their own, R four times: a compiler cache does it
# once. It lives in $BUILD-cache; without ccache everything is as right and slower.
use_cache() {
    command -v ccache > /dev/null || setup cache 2> /dev/null || return 0
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=$PWD/$BUILD-cache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    [[ $BUILD != /* ]] || CCACHE_DIR=$BUILD-cache
    mkdir -p "$CCACHE_DIR"
    export R_MAKEVARS_USER=$CCACHE_DIR/Makevars
    echo 'CC = ccache gcc' > "$R_MAKEVARS_USER"
}
sources() { git ls-files '*.c' '*.h'; }

# Layout; FIX=1 mends it.
check_format() {
    setup format
    if [ -n "${FIX:-}" ]; then sources | xargs clang-format -i; else sources | xargs clang-format --dry-run --Werror; fi
}

# Files that the pages name.
check_pages() { tools/check-pages.sh; }

# Short sentences.
check_words() { tools/check-words.sh; }

# Who includes whom.
check_includes() { tools/check-includes.sh && tools/test-check-includes.sh; }

# A fresh clone, built and installed, and the example.
check_install() { setup build && tools/try-install.sh; }

# The tests, with ranks and with the page of `stonet report` in a browser.
check_test() { setup build test mpi page && make --no-print-directory test BUILD="$BUILD" JOBS="$JOBS"; }

# The CUDA module, where its compiler is.
check_gpu() {
    if [ -x "$(command -v nvcc)" ] || [ -x /usr/local/cuda/bin/nvcc ]; then
        make --no-print-directory gpu BUILD="$BUILD"
    else
        echo "skipped: there is no nvcc here"
    fi
}

# The measuring program, which no test runs: it must build.
check_bench() {
    setup build bench
    configure bench "$BUILD-bench" -DSTONET_WERROR=ON
    build "$BUILD-bench" --target stonet-bench > /dev/null
}

# The tests with the address and undefined-behaviour sanitizers.
check_sanitize() {
    setup build test
    configure sanitize "$BUILD-sanitize"
    build "$BUILD-sanitize"
    run_tests "$BUILD-sanitize"
}

# Tests of what runs on several threads, with the thread sanitizer.
check_threads() {
    local tests
    # shellcheck disable=SC2206 # a list of names
    tests=(${THREAD_TESTS:-engine_contract engine_sums stonet_batches data_rows data_text_parts math_tiles})
    setup build test clang
    configure threads "$BUILD-threads"
    build "$BUILD-threads" --target "${tests[@]/#/test_}" > /dev/null
    torture/threads.sh "$BUILD-threads" "${tests[@]}"
}

# Bytes made up by libFuzzer for everything that reads files or words, from the corpora in fuzz/: the same ones each time, about
# a minute, or for FUZZ_SECONDS. What is found new stays in build-fuzz/bin/found, what fails in build-fuzz/bin/failed.
check_fuzz() {
    setup build test clang
    configure fuzz "$BUILD-fuzz"
    build "$BUILD-fuzz" --target fuzz > /dev/null
    [ -n "${FUZZ_SECONDS:-}" ] || export FUZZ_RUNS=${FUZZ_RUNS:-100000}
    fuzz/run.sh "$BUILD-fuzz/bin" fuzz/corpus "${FUZZ_SECONDS:-14400}" "$JOBS"
}

# The commands of the README.
check_readme() { programs && tools/readme.sh README.md; }

# The site, whose warnings and dead links are errors and whose examples run, and the code blocks of the pages.
check_docs() {
    make --no-print-directory docs BUILD="$BUILD" JOBS="$JOBS"
    # shellcheck disable=SC2046 # a list of files
    PATH=$programs/bin:$PATH STONET_LIBRARY=$programs/lib/libstonet.so PYTHONPATH=$PWD/python/src MPLBACKEND=Agg \
        PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 docs/site/run_blocks.py $(git ls-files 'docs/*.md')
}

# The interface of the shared library against the last release's; UPDATE=1 records it anew, at a release.
check_abi() {
    setup build abi
    tools/abi/abi.sh "$([ -z "${UPDATE:-}" ] && echo check || echo update)" "$BUILD-abi"
}

# The Debian packages; and that they install, run and go away in a fresh Debian (as root, or with user namespaces).
check_deb() { make --no-print-directory deb BUILD="$BUILD"; }
check_deb-fresh() { setup fresh && check_deb && tools/deb/try.sh "$BUILD-deb"; }

# The Python package: tests, some of which compare with the command line, types and examples.
check_python() {
    programs
    make --no-print-directory python VENV="$VENV"
    local python
    python=$(realpath -s "$VENV")/bin/python
    (cd python && STONET_PROGRAM=$programs/bin/stonet "$python" -m pytest && mypy --python-executable "$python")
}

# Exported models in onnxruntime, which Debian has from 13 on: a Debian 13 is made for it.
check_onnx() { programs && setup fresh && python/tools/onnxruntime.sh "$BUILD/bin/stonet"; }

# The R package: tests, some of which compare with the command line, examples and vignette: R CMD check --as-cran.
check_r() {
    programs
    make --no-print-directory r BUILD="$BUILD" JOBS="$JOBS"
    setup r-check
    STONET_PROGRAM=$programs/bin/stonet MAKEFLAGS=-j$JOBS r/tools/check.sh "$BUILD-r"
}

# Every routine of R's glue with the garbage collector at its worst and under valgrind; memory over a thousand fits.
check_r-torture() {
    make --no-print-directory r BUILD="$BUILD" JOBS="$JOBS"
    setup valgrind
    r/tools/torture.sh "$BUILD-r"
    R_LIBS=$BUILD-r/library Rscript --vanilla r/tools/leaks.R
}

# R's numbers beside those of the packages dr and MAVE, where R finds these.
check_r-compare() {
    make --no-print-directory r BUILD="$BUILD" JOBS="$JOBS"
    R_LIBS=$programs-r/library:${R_LIBS:-} Rscript --vanilla r/tools/compare.R
}

# The linter.
check_tidy() {
    setup tidy && programs
    git ls-files 'src/*.c' 'cli/*.c' 'paper/*.c' | grep -v /test_ | xargs -P "$JOBS" -n 1 clang-tidy --quiet -p "$BUILD"
}

# The tests of a build by clang.
check_clang() {
    setup build test clang
    configure clang "$BUILD-clang"
    build "$BUILD-clang"
    run_tests "$BUILD-clang"
}

# The tests of the library on 64-bit ARM: cross compiler and qemu.
check_cross() { setup build test cross && tools/cross/test.sh "$BUILD-aarch64"; }

# Branches of src/ that the tests take, and faults on every path to a call that can fail (SAMPLE=N: of N). Counters are put in
# before anything is inlined, so that the branches are those of the sources; unoptimised, the engines' tests would take hours.
check_coverage() {
    setup build test
    configure coverage "$BUILD-coverage"
    build "$BUILD-coverage"
    run_tests "$BUILD-coverage"
    local faults=(--paths)
    [ -z "${SAMPLE:-}" ] || faults=(--sample "$SAMPLE")
    "$BUILD-coverage/tests/torture" "$BUILD-coverage/tests/stonet-faults" "${faults[@]}"
    torture/coverage.py "$BUILD-coverage"
}

# Every path to an allocation or a call to the file system fails, in all commands together; then every such call of every
# command, once and for good: hours. With SAMPLE=N: N of them, drawn at random (SEED=S); under the sanitizers, which also see what
# leaks. Then every command that writes is killed, and loses its power, at each call that changes a file, and is killed KILLS times
# at random moments. Last, paths of a fit on a GPU, emulated as in the tests, the thread sanitizer on whole fits, valgrind on a
# sample of the commands, and flipped bits.
check_torture() {
    programs && setup test valgrind
    configure release "$BUILD" -DSTONET_TESTS=ON
    build "$BUILD" --target torture flips stonet-faults stonet_cuda_emulated > /dev/null
    configure sanitize "$BUILD-sanitize"
    build "$BUILD-sanitize" --target torture stonet-faults
    local options=() kinds=("--paths" "" "--crashes" "--kills ${KILLS:-1000}") kind
    [ -z "${SEED:-}" ] || options+=(--seed "$SEED")
    [ -z "${SAMPLE:-}" ] || { options+=(--sample "$SAMPLE"); kinds=("${kinds[@]:1}"); }
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086 # the kind is meant to split
        seq 0 $((JOBS - 1)) | ASAN_OPTIONS=allocator_may_return_null=1 xargs -P "$JOBS" -I K \
            "$BUILD-sanitize/tests/torture" "$BUILD-sanitize/tests/stonet-faults" --part "K/$JOBS" $kind "${options[@]}"
    done
    STONET_CUDA=$programs/tests/libstonet_cuda_emulated.so "$BUILD/tests/torture" "$BUILD/tests/stonet-faults" \
        --paths --only "--set engine="
    THREAD_TESTS="engine_contract engine_sums stonet_batches data_rows data_text_parts math_tiles model_threads select_select
        engine_cpu" check_threads
    torture/valgrind.sh "$BUILD/bin/stonet"
    "$BUILD/tests/flips"
}

# How often every test of independence rejects what is independent, and finds what is not (docs/sufficiency.md). All of it takes
# hours; LEVEL_TABLES=50 LEVEL_ROWS=100 is a short look.
check_levels() {
    setup build test
    configure release "$BUILD" -DSTONET_TESTS=ON
    build "$BUILD" --target test_stats_levels > /dev/null
    # shellcheck disable=SC2086 # a list of numbers
    "$BUILD/tests/test_stats_levels" "${LEVEL_TABLES:-200}" ${LEVEL_ROWS:-100 500 2000}
}

# The paper's experiments in small; those without data (STONET_DATA) say that they are skipped.
check_paper() {
    programs
    for experiment in m1 table1 table2 table3 theory; do
        "$BUILD/bin/stonet-paper" $experiment --quick --out "${PAPER_OUT:-paper-quick}"
    done
}

# The files of a release, from a tag: sources, Debian packages, wheel, checksums, in build-release; and whether the sums are
# right and the Python packages work in a fresh Debian. make check-release TAG=v0.2.0
check_release() {
    setup build deb python fresh
    tools/release/release.sh "${TAG:?name the tag: make check-release TAG=v0.2.0}" "$BUILD-release"
    tools/release/try.sh "$BUILD-release"
}

if [ "${1:-}" = --list ]; then
    if [ "${2:-}" != forge ]; then
        printf '%s\n' "${landing[@]}"
    else
        printf '%s\n' "${landing[@]}" "${forge[@]}" | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/'
    fi
    exit
fi
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
use_cache
for name in "$@"; do
    declare -F "check_$name" > /dev/null || { echo "check.sh: there is no check '$name'" >&2; exit 2; }
    "check_$name"
done
