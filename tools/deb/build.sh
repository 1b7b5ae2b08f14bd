#!/usr/bin/env bash
# build.sh BUILD: the Debian packages, built with Debian's flags, into BUILD/packages, and looked over by lintian.
set -euo pipefail
build=${1:?usage: build.sh BUILD}
cd "$(dirname "$0")/../.."
# the same sources give the same packages
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH
export DEB_BUILD_MAINT_OPTIONS=hardening=+all DEB_CFLAGS_MAINT_STRIP='-g -O2' # the preset says how to optimise
flag() { dpkg-buildflags --get "$1"; }
cmake --preset deb -B "$build" -DCMAKE_C_FLAGS="$(flag CFLAGS) $(flag CPPFLAGS)" \
    -DCMAKE_EXE_LINKER_FLAGS="$(flag LDFLAGS)" -DCMAKE_SHARED_LINKER_FLAGS="$(flag LDFLAGS)" > /dev/null
cmake --build "$build" -j "$(nproc)" > /dev/null
rm -rf "$build/packages"
umask 022
cpack --config "$build/CPackConfig.cmake" -B "$build/packages" > "$build/cpack.log" 2>&1 || { cat "$build/cpack.log"; exit 1; }
ls "$build"/packages/*.deb
# Not held against them: no bug of Debian asks for the packages; CPack's scripts call ldconfig, which a trigger could do;
# libstonet-mpi.so is loaded by its name and never linked to.
lintian --allow-root --fail-on error,warning \
    --suppress-tags initial-upload-closes-no-bugs,maintscript-calls-ldconfig,lacks-ldconfig-trigger,sharedobject-in-library-directory-missing-soname \
    "$build"/packages/*.deb
