#!/usr/bin/env bash
# sysroot.sh ARCHITECTURE FOLDER: the libraries and headers of Debian 12 for another architecture (arm64), unpacked without running
# anything of them; what update-alternatives would choose is linked here. Nothing when the folder is there.
set -euo pipefail
architecture=${1:?usage: sysroot.sh ARCHITECTURE FOLDER}
folder=${2:?usage: sysroot.sh ARCHITECTURE FOLDER}
[ ! -d "$folder" ] || exit 0
trap 'rm -rf "$folder.new"' EXIT
mmdebstrap --quiet --architectures="$architecture" --variant=extract bookworm "$folder.new" ${MIRROR:+"$MIRROR"} \
    --include=libc6-dev,libgcc-12-dev,libgomp1 --include="$("$(dirname "$0")/../setup.sh" --list build test | grep -E "^(lib|zlib|node)" | paste -sd,)"
triplet=$(basename "$(dirname "$(ls -d "$folder.new"/usr/lib/*/openblas-openmp)")")
cd "$folder.new/usr/lib/$triplet"
for name in libopenblas.so libopenblas.so.0 libblas.so libblas.so.3 liblapack.so liblapack.so.3; do
    ln -sf "openblas-openmp/$name" "$name"
done
ln -sf ../openblas-openmp/pkgconfig/openblas.pc pkgconfig/openblas.pc
ln -sf ../openblas-openmp/pkgconfig/blas-openblas.pc pkgconfig/blas.pc
ln -sf ../openblas-openmp/pkgconfig/lapack-openblas.pc pkgconfig/lapack.pc
for header in "$folder.new/usr/include/$triplet"/openblas-openmp/*.h; do
    ln -sf "openblas-openmp/$(basename "$header")" "$folder.new/usr/include/$triplet/"
done
cd - > /dev/null
# links from the root of that Debian lead there, not to ours
find "$folder.new/usr/lib/$triplet" -maxdepth 1 -type l -lname '/*' | while read -r link; do
    ln -sfr "$folder.new$(readlink "$link")" "$link"
done
mv "$folder.new" "$folder"
