#!/usr/bin/env bash
# release.sh TAG OUT: the files of a release, made from the tag alone and not from what lies in this folder: the sources, the Debian
# packages, in python/ the wheel (with the libraries that it needs) and the source package, which must have the same name as the sources,
# and their checksums.
set -euo pipefail
tag=${1:?usage: release.sh TAG OUT}
out=$(realpath -m "${2:?usage: release.sh TAG OUT}")
cd "$(dirname "$0")/../.."
git rev-parse -q --verify "refs/tags/$tag^{commit}" > /dev/null || { echo "there is no tag '$tag'" >&2; exit 1; }
version=$(git show "$tag:include/stonet/stonet.h" | awk '/#define STONET_VERSION_(MAJOR|MINOR|PATCH) /{v = v sep $3; sep = "."} END {print v}')
[ "$tag" = "v$version" ] || { echo "tag '$tag' is of version $version: it should be v$version" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out/python"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive --format=tar --prefix="stonet-$version/" "$tag" | tee "$scratch/sources.tar" | gzip -9n > "$out/stonet-$version.tar.gz"
tar -xf "$scratch/sources.tar" -C "$scratch"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$tag")
export SOURCE_DATE_EPOCH
(
    cd "$scratch/stonet-$version"
    make deb
    cp build-deb/packages/*.deb "$out"
    STONET_CARRY=1 /usr/bin/python3 -m pip wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir "$out/python" ./python
    cd python
    /usr/bin/python3 -W ignore setup.py --quiet sdist --dist-dir "$out/python"
)
(cd "$out" && sha256sum -- *.* python/* > SHA256SUMS)
cat "$out/SHA256SUMS"
