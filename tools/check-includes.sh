#!/usr/bin/env bash
# Whether the parts of the project lean on each other in one direction only. usage: check-includes.sh [ROOT]
#
#   - a room of src/ includes itself, the rooms that its line of the table in docs/architecture.md names, and what these
#     include in turn (any test may take its random numbers from math/noise.h);
#   - cli, paper and examples include stonet/stonet.h and nothing of src/ (paper also uses parts of cli; their tests
#     use base/test_kit.h).
#     bench is the one exception: it measures the engines and the reader from inside;
#   - no type, function or macro is defined in two headers of the library, so that any two can be included.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

find src include cli paper examples \( -name '*.[ch]' -o -name '*.cu' \) -print0 | sort -z |
    xargs -0 awk '
function fail(sentence) { print sentence > "/dev/stderr"; wrong = 1 }

# The table: | `src/ROOM` | what it holds | rooms it includes |. A room stands below those it includes.
FILENAME ~ /architecture\.md$/ {
    if (split($0, cell, /[ ]*\|[ ]*/) < 4 || cell[2] !~ /^`src\/[a-z]+`$/) next
    to = cell[2]
    gsub(/`|src\//, "", to)
    listed[to] = may[to, to] = 1
    for (count = split(cell[4], named, /, */); count > 0; count--) {
        if (named[count] == "") continue
        if (!(named[count] in listed)) fail("docs/architecture.md: " to " includes " named[count] ", which stands below it")
        for (other in listed) if ((named[count], other) in may) may[to, other] = 1
    }
    next
}

FNR == 1 {
    split(FILENAME, part, "/")
    room = part[1] == "src" ? part[2] : ""
    is_test = FILENAME ~ /\/test[^\/]*$/
    is_header = FILENAME ~ /^(src|include)\/.*\.h$/ && !is_test && FILENAME !~ /\/golden\//
    if (room != "" && !(room in listed) && !told[room]++)
        fail("src/" room " is not in the table of rooms of docs/architecture.md")
}

/^[ \t]*#[ \t]*include[ \t]+"/ {
    target = $0
    gsub(/^[^"]*"|"[^"]*$/, "", target)
    to = target
    sub(/\/.*/, "", to)
    if (room != "" && !(room in listed))
        next
    if (room != "") {
        if (to == target)
            fail(FILENAME ": \"" target "\" does not say its room")
        else if (!(to in listed))
            fail(FILENAME ": \"" target "\" is in no room of the library")
        else if (!((room, to) in may) && !(is_test && target == "math/noise.h"))
            fail(FILENAME ": " room " must not lean on " to " (\"" target "\")")
    } else if (!(to == part[1] && to != "examples") && !(part[1] == "paper" && to == "cli") &&
               !(is_test && target == "base/test_kit.h"))
        fail(FILENAME ": \"" target "\": programs use stonet/stonet.h and nothing else of the library")
}

# The name that a line of a header defines: the last word of a typedef, a function at the start of a line, a macro.
is_header {
    name = ""
    if ($0 ~ /^(typedef|\}).*[ *}][A-Za-z_][A-Za-z_0-9]*;/) {
        name = $0
        sub(/;.*/, "", name)
        sub(/.*[ *}]/, "", name)
    } else if ($0 ~ /^[A-Za-z][A-Za-z_0-9 *]*[ *][a-z][a-z_0-9]*\(/) {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
    } else if ($0 ~ /^#[ \t]*define[ \t]/) {
        name = $0
        sub(/^#[ \t]*define[ \t]+/, "", name)
        sub(/[^A-Za-z_0-9].*/, "", name)
    }
    if (name == "") next
    if (name in where && where[name] != FILENAME) fail(name ": defined in " where[name] " and in " FILENAME)
    where[name] = FILENAME
}

END { exit wrong }
' docs/architecture.md
