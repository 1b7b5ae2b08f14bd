#!/usr/bin/env bash
# Every file that a page of the documentation names (`src/..`, `docs/..` and so on) or links to must be there. Parts in
# capitals, as in src/ROOM/test_THING.c, stand for names.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
while read -r page; do
    folder=$(dirname "$page")
    # shellcheck disable=SC2016 # backticks of Markdown
    named=$(grep -oE '`(src|cli|paper|python|bench|cmake|docs|include|examples|tools|torture|fuzz|r)/[a-z0-9_./*-]+`' "$page" | tr -d '`' || true)
    linked=$(grep -oE '\]\([^)#:]+\)' "$page" | sed 's|^](\(.*\))|\1|' || true)
    for path in $named; do # globs are meant to match
        [ -e "$path" ] || [ -e "$folder/$path" ] || { echo "$page names $path, which is not there" >&2; status=1; }
    done
    for path in $linked; do
        [ -e "$folder/$path" ] || { echo "$page links to $path, which is not there" >&2; status=1; }
    done
done < <(git ls-files '*.md')
exit $status
