#!/bin/sh
# setup.sh PACKAGE..          installs the Debian packages that are missing; quiet when there is nothing to do
# setup.sh --check PACKAGE..  installs nothing: names what is missing and fails
set -eu
check=
[ "${1:-}" != --check ] || { check=1; shift; }
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
if [ -n "$check" ]; then
    echo "stonet needs packages that are missing here:$missing; 'make setup' installs them." >&2
    exit 1
fi
echo "installing:$missing" >&2
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to split
$as_root apt-get install -y -qq --no-install-recommends $missing > /dev/null
