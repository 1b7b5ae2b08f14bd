#!/usr/bin/env bash
# Builds a fresh clone by `make` alone, installs it by `make install` and into a scratch prefix, moves that, and builds the
# example against it in every way a user might: pkg-config and find_package, shared and static; and once with the sources as
# a part of another project.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git clone --quiet --shared "$root" "$scratch/clone"
export CCACHE_BASEDIR=$scratch # where a compiler cache is used: both builds of the clone have the same names for its files
make -C "$scratch/clone" --no-print-directory
cmake --install "$scratch/clone/build" --prefix "$scratch/first" > /dev/null
make -C "$scratch/clone" --no-print-directory install DESTDIR="$scratch/root" > /dev/null
prefix="$scratch/moved elsewhere" # a blank, too
mv "$scratch/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name libstonet.a)")
cd "$scratch"

fail() { echo "try-install: $*" >&2; exit 1; }

# Both ways install all that users need, and the same files.
(cd "$prefix" && find . ! -type d | sort) > by-cmake
(cd "$scratch/root/usr/local" && find . ! -type d | sort) > by-make
cmp by-cmake by-make || fail "make install and cmake --install do not install the same files"
for file in bin/stonet include/stonet/stonet.h include/stonet/order.h libstonet.so libstonet.a share/man/man1/stonet.1.gz \
    share/man/man1/stonet-fit.1.gz bash-completion/completions/stonet zsh/site-functions/_stonet \
    fish/vendor_completions.d/stonet.fish pkgconfig/stonet.pc cmake/stonet/stonet-config.cmake; do
    grep -q "/$file\$" by-cmake || fail "$file is not installed"
done

# Nothing but the public names, and no program that is not for users.
for names in "$(nm -g --defined-only "$libdir/libstonet.a")" "$(nm -D --defined-only "$libdir/libstonet.so")"; do
    extra=$(awk 'NF == 3 && $3 !~ /^stonet_/ {print $3}' <<< "$names")
    [ -z "$extra" ] || fail "the library shows names that are not public: ${extra//$'\n'/ }"
done
[ "$(ls "$prefix/bin")" = stonet ] || fail "bin/ should have stonet and nothing else:" "$(ls "$prefix/bin")"

# The version is the same wherever it is told.
export PKG_CONFIG_PATH=$libdir/pkgconfig
version=$(pkg-config --modversion stonet)
[ "$("$prefix/bin/stonet" --version | head -n 1)" = "stonet $version" ] || fail "the program and stonet.pc tell two versions"
[ -e "$libdir/libstonet.so.$version" ] || fail "the library file does not have the version $version"

# pkg-config.
example=(gcc -std=c17 -Wall -Wextra -Werror "$root/examples/reduce.c")
eval "shared=($(pkg-config --cflags --libs stonet))" # eval: pkg-config quotes blanks for a shell
eval "static=($(pkg-config --static --cflags --libs stonet))"
# shellcheck disable=SC2154
"${example[@]}" "${shared[@]}" -o pc-shared
# shellcheck disable=SC2154
"${example[@]}" "${static[@]/#-lstonet/-l:libstonet.a}" -o pc-static

# find_package, for the example as it stands and for a project that wants the archive, with names of its own that we use
# inside; it is told the version it may have.
cmake -S "$root/examples" -B cmake-shared -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build cmake-shared > /dev/null
mkdir own
cat > own/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.25)
project(own LANGUAGES C)
find_package(stonet ${version%.*} REQUIRED COMPONENTS static)
add_executable(reduce "$root/examples/reduce.c" clash.c)
target_link_libraries(reduce PRIVATE stonet::static)
EOF
nm "$libdir/libstonet.a" | awk '$2 == "t" && $3 ~ /^sn_[a-z]+$/ {print "int " $3 "(void); int " $3 "(void) { return 1; }"}' \
    | sort -u > own/clash.c
[ -s own/clash.c ] || fail "no internal name found to clash with"
cmake -S own -B cmake-static -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build cmake-static > /dev/null

# add_subdirectory.
mkdir whole
cat > whole/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.25)
project(whole LANGUAGES C)
add_subdirectory("$scratch/clone" "$scratch/clone/part" EXCLUDE_FROM_ALL)
foreach(kind stonet static)
  add_executable(reduce-\${kind} "$root/examples/reduce.c")
  target_link_libraries(reduce-\${kind} PRIVATE stonet::\${kind})
endforeach()
EOF
cmake -S whole -B part > /dev/null
cmake --build part -j "$(nproc)" > /dev/null

"$prefix/bin/stonet" generate ring --rows 300 --out ring.csv 2> /dev/null
./pc-static ring.csv y 1 > z.csv
[ "$(wc -l < z.csv)" = 300 ] || fail "the example should print 300 rows"
LD_LIBRARY_PATH=$libdir ./pc-shared ring.csv y 1 | cmp - z.csv
for program in cmake-shared/reduce cmake-static/reduce part/reduce-stonet part/reduce-static; do
    "$program" ring.csv y 1 | cmp - z.csv
done
echo "the installed library is found, links and runs the example by pkg-config, find_package and add_subdirectory"
