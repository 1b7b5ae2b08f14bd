#!/bin/sh
# check.sh FOLDER: R CMD check --as-cran, the tests with it, of what build.sh has put there. Fails on an error, a warning,
# and a note that is not one of those that docs/r.md explains. The manual needs LaTeX; without it, it is not made.
set -eu
cd "$1"
manual=
command -v pdflatex > /dev/null || manual=--no-manual
# No network is asked: neither for the index of CRAN nor for the time.
export TZ="${TZ:-UTC}"
export _R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_SYSTEM_CLOCK_=FALSE _R_CHECK_FORCE_SUGGESTS_=FALSE
status=0
R CMD check --as-cran $manual stonet_*.tar.gz > check.log 2>&1 || status=$?
sed -n '/NOTE$\|WARNING$\|ERROR$\|^Status/,/^\* /p' check.log
[ "$status" = 0 ] || { tail -n 100 stonet.Rcheck/tests/*.fail stonet.Rcheck/00install.out >&2 || true; exit "$status"; }
if grep -q 'WARNING$' check.log; then exit 1; fi
known='compilation flags used'
if grep '^\*.*NOTE$' check.log | grep -v "$known"; then
    echo "the notes above are not explained in docs/r.md" >&2
    exit 1
fi
