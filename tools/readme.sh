#!/usr/bin/env bash
# Runs the shell blocks (```sh) of a Markdown file in order, each command in one scratch folder, with the built
# programs on the PATH. Blocks that set the project up (```console) are for people and are not run.
set -euo pipefail
page=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
awk '/^```sh$/ {on = 1; next} /^```/ {on = 0} on' "$page" > "$scratch/commands.sh"
[ -s "$scratch/commands.sh" ] || { echo "$page has no shell blocks" >&2; exit 1; }
cd "$scratch"
PATH=$root/build/bin:$PATH bash -euxo pipefail commands.sh
echo "the commands of $(basename "$page") work"
