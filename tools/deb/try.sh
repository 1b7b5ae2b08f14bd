#!/usr/bin/env bash
# try.sh BUILD: installs the packages of BUILD/packages in a fresh Debian 12 that is made for it, runs the program,
# builds the example with what libstonet-dev brings, asks Python, and takes everything away again. MIRROR says where Debian comes from, if not
# from where mmdebstrap takes it.
set -euo pipefail
build=$(realpath "${1:?usage: try.sh BUILD}")
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/try"
cp "$build"/packages/*.deb "$root"/examples/{reduce.c,CMakeLists.txt} "$scratch/try"
cat > "$scratch/try/inside.sh" <<'EOF'
set -eux
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends "$@" > /dev/null; }
cd /try
install ./stonet_*.deb
stonet --version
stonet generate waveform --rows 300 --out train.csv
stonet fit train.csv --target y --dim 2 --out waveform.model
stonet score waveform.model train.csv --target y
install ./libstonet-mpi_*.deb
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -n 2 stonet fit train.csv --target y --dim 2 --out ranks.model
cmp waveform.model ranks.model
install ./libstonet*.deb gcc libc6-dev make pkg-config cmake
gcc -Wall -Wextra -Werror reduce.c $(pkg-config --cflags --libs stonet) -o reduce
./reduce train.csv y 2 > z.csv
test "$(wc -l < z.csv)" = 300
cmake -S . -B with-cmake > /dev/null
cmake --build with-cmake > /dev/null
with-cmake/reduce train.csv y 2 | cmp - z.csv
install ./python3-stonet_*.deb
python3 - <<'END'
import stonet
X, y, truth = stonet.datasets.generate("waveform", rows=200)
assert stonet.SlicedInverseRegression(1).fit(X, y).transform(X).shape == (200, 1)
assert stonet.load("waveform.model").transform(X).shape == (200, 2)
END
apt-get purge -y -qq python3-stonet stonet libstonet-mpi libstonet-dev 'libstonet[0-9]*' > /dev/null
test -z "$(find /usr /etc /var/lib/dpkg/info -name '*stonet*')"
EOF
# shellcheck disable=SC2016 # $1 is for the hook
mmdebstrap --quiet --dpkgopt=force-unsafe-io --variant=minbase --format=null --customize-hook="copy-in '$scratch/try' /" \
    --customize-hook='chroot "$1" sh /try/inside.sh' bookworm /dev/null ${MIRROR:+"$MIRROR"}
echo "the packages install, run and go away in a fresh Debian"
