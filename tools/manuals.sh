#!/bin/sh
# usage: manuals.sh PROGRAM FOLDER: the manual pages and completion files of the program, into man/man1 and completion.
set -eu
program=$1
folder=$2
rm -rf "$folder/man" "$folder/completion"
mkdir -p "$folder/man/man1" "$folder/completion"
"$program" help --man > "$folder/man/man1/stonet.1"
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
    "$program" help --man "$command" > "$folder/man/man1/stonet-$command.1"
done
gzip -9 -n "$folder"/man/man1/*.1
"$program" completion bash > "$folder/completion/stonet"
"$program" completion zsh > "$folder/completion/_stonet"
"$program" completion fish > "$folder/completion/stonet.fish"
touch "$folder/stamp"
