#!/bin/sh
# stage.sh FOLDER: the source package as R knows one, in FOLDER: what is in r/, the C library's sources under src/core
# (they are not kept twice in the tree), the version of the public header.
set -eu
to=$1
here=$(cd "$(dirname "$0")/.." && pwd)
project=$(dirname "$here")
rm -rf "$to"
mkdir -p "$to/src/core/include"
for part in R man inst tests vignettes src LICENSE NAMESPACE NEWS.md configure cleanup; do
    [ ! -e "$here/$part" ] || cp -R "$here/$part" "$to/"
done
cp -R "$project/include/stonet" "$to/src/core/include/"
(cd "$project" && find src \( -name '*.c' -o -name '*.h' \) ! -name 'test*' ! -path '*/golden/*') | while read -r file; do
    mkdir -p "$to/src/core/$(dirname "$file")"
    # CRAN wants no pragmas that silence the compiler, which hide nothing of ours
    sed '/^#pragma GCC diagnostic/d' "$project/$file" > "$to/src/core/$file"
done
# The page of stonet_report is not here, and the library refuses to make it, as it does without d3 elsewhere.
cat > "$to/src/core/src/report/page_parts.c" << 'END'
#include "report/page.h"
const unsigned char sn_page_before[1], sn_page_after[1];
const size_t sn_page_before_size = 0, sn_page_after_size = 0;
END
version=$(sed -n 's/^#define STONET_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' "$project/include/stonet/stonet.h" |
    paste -s -d .)
sed "s/@VERSION@/$version/" "$here/DESCRIPTION.in" > "$to/DESCRIPTION"
