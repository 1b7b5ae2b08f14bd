#!/usr/bin/env bash
# test.sh BUILD: builds for 64-bit ARM with Debian's cross compiler and runs the tests of the library in qemu. Tests that start the
# program by themselves are left out: the kernel of this machine does not run it.
set -euo pipefail
build=$(realpath -m "${1:?usage: test.sh BUILD}")
cd "$(dirname "$0")/../.."
mkdir -p "$build"
export STONET_SYSROOT=$build/sysroot
cmake/cross/sysroot.sh arm64 "$STONET_SYSROOT"
cmake -S . -B "$build" --toolchain "$PWD/cmake/cross/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release -DSTONET_WERROR=ON > /dev/null
cmake --build "$build" -j "$(nproc)" > /dev/null
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" -E "${SKIP:-^(cli|paper|torture|demo|scratch|fuzz)}"
