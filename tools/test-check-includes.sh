#!/usr/bin/env bash
# check-includes.sh passes on the tree as it is, and says so of each kind of violation planted in a copy.
set -euo pipefail
cd "$(dirname "$0")/.."
check=$PWD/tools/check-includes.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r src include cli paper examples "$copy"
mkdir "$copy/docs"
cp docs/architecture.md "$copy/docs"

expect() { # FILE-TO-APPEND-TO LINE WORDS
    local before said
    before=$(cat "$copy/$1")
    printf '%s\n' "$2" >> "$copy/$1"
    if said=$("$check" "$copy" 2>&1); then
        echo "not noticed: $2 in $1" >&2
        exit 1
    fi
    if [[ "$said" != *"$3"* ]]; then
        echo "$2 in $1: wanted '$3', got: $said" >&2
        exit 1
    fi
    printf '%s\n' "$before" > "$copy/$1"
}

"$check" "$copy"
expect src/base/run.c '#include "model/model.h"' 'base must not lean on model'
expect src/stonet/train.h '#  include "methods/method.h"' 'stonet must not lean on methods'
expect src/learners/linear.c '#include "stonet/train.h"' 'learners must not lean on stonet'
expect src/net/shape.h '#include "shape.h"' 'does not say its room'
expect cli/command_fit.c '#include "data/frame.h"' 'nothing else of the library'
expect paper/paper.h '#include "base/status.h"' 'nothing else of the library'
expect examples/reduce.c '#include "base/status.h"' 'nothing else of the library'
expect src/math/columns.h 'typedef enum sn_scale { A, B } sn_scale;' 'sn_scale: defined in'
expect src/math/columns.h 'int sn_threads(const stonet_run *run);' 'sn_threads: defined in'
expect docs/architecture.md '| `src/new` | nothing | later |' 'which stands below it'
mkdir "$copy/src/attic"
touch "$copy/src/attic/old.c"
expect src/attic/old.c '// nothing' 'src/attic is not in the table of rooms'
rm -r "$copy/src/attic"
"$check" "$copy"
