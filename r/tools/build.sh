#!/bin/sh
# build.sh FOLDER: the source package FOLDER/stonet_VERSION.tar.gz, and the package installed from it in FOLDER/library.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
"$here/stage.sh" "$out/stonet"
cd "$out"
rm -rf stonet_*.tar.gz library
mkdir library
R CMD build stonet > build.log 2>&1 || { cat build.log >&2; exit 1; }
R CMD INSTALL --library=library stonet_*.tar.gz > install.log 2>&1 || { cat install.log >&2; exit 1; }
echo "built $(ls "$out"/stonet_*.tar.gz), installed in $out/library"
