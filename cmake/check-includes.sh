#!/usr/bin/env bash
# Whether the parts of the project lean on each other in one direction only. usage: check-includes.sh [ROOT]
#
#   - the rooms of src/ include rooms to their left in the list below, and themselves (any test may take its
#     random numbers from math/noise.h);
#   - cli, paper and examples include stonet/stonet.h and nothing of src/ (paper also uses parts of cli).
#     bench is the one exception: it measures the engines and the reader from inside;
#   - no type, function or macro is defined in two headers of the library, so that any two can be included.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

rooms="base math stats data net engine front stonet choice learners methods model export refit select order explain report"

find src include cli paper examples \( -name '*.[ch]' -o -name '*.cu' \) -print0 | sort -z | xargs -0 awk -v rooms="$rooms" '
function fail(sentence) { print sentence > "/dev/stderr"; wrong = 1 }

BEGIN { for (count = split(rooms, list, " "); count > 0; count--) rank[list[count]] = count }

FNR == 1 {
    split(FILENAME, part, "/")
    room = part[1] == "src" ? part[2] : ""
    is_test = FILENAME ~ /\/test[^\/]*$/
    is_header = FILENAME ~ /^(src|include)\/.*\.h$/ && !is_test && FILENAME !~ /\/golden\//
    if (room != "" && !(room in rank) && !told[room]++)
        fail("src/" room " is not in the list of rooms of check-includes.sh")
}

/^[ \t]*#[ \t]*include[ \t]+"/ {
    target = $0
    gsub(/^[^"]*"|"[^"]*$/, "", target)
    to = target
    sub(/\/.*/, "", to)
    if (room != "" && !(room in rank))
        next
    if (room != "") {
        if (to == target)
            fail(FILENAME ": \"" target "\" does not say its room")
        else if (!(to in rank))
            fail(FILENAME ": \"" target "\" is in no room of the library")
        else if (rank[to] > rank[room] && !(is_test && target == "math/noise.h"))
            fail(FILENAME ": " room " must not lean on " to " (\"" target "\")")
    } else if (!(to == part[1] && to != "examples") && !(part[1] == "paper" && to == "cli"))
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
'
