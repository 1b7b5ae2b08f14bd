#!/bin/sh
# setup.sh GROUP..          installs what is missing of these groups of tools/packages; quiet when there is nothing to do
# setup.sh --check GROUP..  installs nothing: names what is missing and fails
# setup.sh --list GROUP..   prints the packages
set -eu
how=
case ${1:-} in --*) how=$1; shift ;; esac
table=$(dirname "$0")/packages
wanted=
for group in "$@"; do
    found=$(sed -n "s/^$group: *//p" "$table")
    [ -n "$found" ] || { echo "setup.sh: $table has no group '$group'" >&2; exit 2; }
    wanted="$wanted $found"
done
# shellcheck disable=SC2086 # the lists are meant to split
set -- $wanted
if [ "$how" = --list ]; then
    printf '%s\n' "$@"
    exit 0
fi
if ! command -v dpkg-query > /dev/null; then
    echo "this is not Debian: the build goes on with what there is (Debian's names of what it needs: $*)" >&2
    exit 0
fi
missing=
for package in "$@"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = 'install ok installed' ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$how" = --check ]; then
    echo "stonet needs packages that are missing here:$missing; 'make setup' installs them." >&2
    exit 1
fi
echo "installing:$missing" >&2
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

patiently() { # runs a command; while another program holds the locks of apt or dpkg, waits for it, ten minutes at most
    tries=0
    until said=$("$@" 2>&1); do
        case $said in
        *"Could not get lock"* | *"nable to lock"* | *"nable to acquire"*) ;;
        *) echo "$said" >&2; exit 1 ;;
        esac
        tries=$((tries + 1))
        [ $tries -le 120 ] || { echo "$said" >&2; exit 1; }
        [ $tries -gt 1 ] || echo "waiting for another apt or dpkg to end" >&2
        sleep 5
    done
}

patiently $as_root apt-get update -qq
# shellcheck disable=SC2086
patiently $as_root apt-get install -y -qq --no-install-recommends $missing
