#!/usr/bin/env bash
# abi.sh check BUILD   compares the interface of the shared library with the record of the last release: what a program
#                      linked to that release may rely on must still be there, or the soname must have changed
# abi.sh update BUILD  makes that record anew, tools/abi/released.abi; to be done when a release is tagged
# BUILD is a folder for a build of its own, with debug information, from which the interface is read.
set -euo pipefail
what=${1:?usage: abi.sh check|update BUILD}
build=${2:?usage: abi.sh check|update BUILD}
here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$here/../..")
released=$here/released.abi

# The name of this folder stays out of the record; warnings are for the other builds.
cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DSTONET_TESTS=OFF \
    -DCMAKE_C_FLAGS="-w -ffile-prefix-map=$root/=" > /dev/null
cmake --build "$build" -j "$(nproc)" --target stonet_shared > /dev/null
current=$(realpath "$build")/current.abi
abidw --headers-dir "$root/include" --suppressions "$here/public.ini" --drop-private-types --drop-undefined-syms \
    --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --no-elf-needed --out-file "$current" \
    "$build/lib/libstonet.so"

soname() { sed -n "s/^<abi-corpus .*soname='\([^']*\)'.*/\1/p" "$1"; }

case $what in
update)
    cp "$current" "$released"
    echo "tools/abi/released.abi is now the interface of $(soname "$current")"
    ;;
check)
    before=$(soname "$released") now=$(soname "$current")
    if [ -z "$before" ] || [ -z "$now" ]; then
        echo "abi: a soname is missing" >&2
        exit 1
    fi
    status=0
    report=$(abidiff --no-added-syms --suppressions "$here/growth.ini" "$released" "$current") || status=$?
    if ((status & 3)); then # bits 0 and 1: it could not compare
        echo "$report"
        echo "abi: abidiff failed" >&2
        exit 1
    elif ((status == 0)); then
        echo "the interface of $before is whole"
    elif [ "$before" != "$now" ]; then
        echo "the interface differs from the last release's, and so does the soname: $before, now $now"
    else
        echo "$report"
        echo "abi: programs linked to $before would break; keep what they use, or change the soname" >&2
        exit 1
    fi
    ;;
*)
    echo "usage: abi.sh check|update BUILD" >&2
    exit 2
    ;;
esac
