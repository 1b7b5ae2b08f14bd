#!/bin/sh
# torture.sh FOLDER: every routine of the glue under gctorture, then under valgrind, with the package that build.sh has put
# there. Leaks that valgrind counts are those that begin in our own code.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$1" && pwd)
export R_LIBS="$out/library" OMP_NUM_THREADS=1 TZ="${TZ:-UTC}"
STONET_GCTORTURE=1 Rscript --vanilla "$here/sample.R"
log="$out/valgrind.log"
R --vanilla --no-echo -d "valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=none --log-file=$log" \
    -f "$here/sample.R"
grep 'ERROR SUMMARY' "$log"
if ! grep -q 'ERROR SUMMARY: 0 errors' "$log"; then
    grep -B2 -A20 'Invalid\|uninitialised' "$log" | head -n 100 >&2
    exit 1
fi
# a block that is lost, with a function of ours (not of R's) on the stack
if awk '/definitely lost in/ {on = 1; text = ""} on {text = text $0 "\n"} on && /^==[0-9]+== *$/ {if (text ~ /stonet\.so/) print text; on = 0}' \
    "$log" | grep .; then
    exit 1
fi
