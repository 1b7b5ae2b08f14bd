#!/usr/bin/env bash
# Builds the site: build.sh ROOT BUILD. Pages in BUILD/docs, to be opened from disk; any warning is an error.
set -euo pipefail
root=$(realpath "$1")
build=$(realpath "$2")
work=$build/docs-work
export STONET_ROOT=$root STONET_XML=$work/xml STONET_LIBRARY=$build/lib/libstonet.so PYTHONPATH=$root/python/src
export OMP_WAIT_POLICY=passive MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE=1
mkdir -p "$work"
/usr/bin/python3 "$root/docs/site/prepare.py" "$root" "$work/source" "$build/bin/stonet"
rm -rf "$STONET_XML" "$build/docs"
mkdir -p "$STONET_XML"
doxygen "$root/docs/site/Doxyfile"
/usr/bin/python3 -m sphinx -q -W --keep-going -b html -d "$work/doctrees" "$work/source" "$build/docs"
/usr/bin/python3 "$root/docs/site/check.py" "$build/docs"
echo "the site is in $build/docs: open index.html"
