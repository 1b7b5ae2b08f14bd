#!/usr/bin/env bash
# Installs a build folder into a scratch prefix and compiles the example against it, shared and static, through
# pkg-config alone.
set -euo pipefail
build=$(realpath "${1:-build}")
root=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" > /dev/null
libdir=$(dirname "$(find "$prefix" -name libstonet.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags=(-std=c17 -Wall -Wextra -Werror "$root/examples/reduce.c")
# The .pc file names the final prefix; a scratch install is told apart by --define-variable.
shared=$(pkg-config --define-variable=prefix="$prefix" --cflags --libs stonet)
static=$(pkg-config --define-variable=prefix="$prefix" --static --cflags --libs stonet)
# shellcheck disable=SC2086 # flags are meant to split
gcc "${flags[@]}" $shared -o "$prefix/reduce-shared"
# shellcheck disable=SC2086
gcc "${flags[@]}" ${static/-lstonet/-l:libstonet.a} -o "$prefix/reduce-static"
cd "$prefix"
bin/stonet generate ring --rows 300 --out ring.csv 2> /dev/null
LD_LIBRARY_PATH=$libdir ./reduce-shared ring.csv y 1 > shared.csv
./reduce-static ring.csv y 1 > static.csv
cmp shared.csv static.csv
[ "$(wc -l < shared.csv)" = 300 ]
echo "the installed library compiles, links and runs the example"
