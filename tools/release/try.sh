#!/usr/bin/env bash
# try.sh RELEASE: checks the sums of a release, builds its Python source package in a fresh Debian 12, then takes the libraries that the
# wheel carries away from that Debian, installs the wheel and fits a model with it. MIRROR says where Debian comes from, if not from where mmdebstrap
# takes it.
set -euo pipefail
release=$(realpath "${1:?usage: try.sh RELEASE}")
(cd "$release" && sha256sum --quiet --check SHA256SUMS)
# no file without its sum
diff <(cd "$release" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort) <(awk '{print $2}' "$release/SHA256SUMS" | sort)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$release/python" "$scratch/try"
cat > "$scratch/try/use.py" <<'EOF2'
import os
import sys
import stonet
X, y, truth = stonet.datasets.generate("waveform", rows=200)
model = stonet.StoNetClassifier(2, epochs=5).fit(X, y)
assert model.transform(X).shape == (200, 2) and model.score(X, y) > 0.8
assert stonet.SlicedInverseRegression(1).fit(X, y).transform(X).shape == (200, 1)
print("stonet", stonet.__version__, "of", stonet.__file__)
maps = {line.split()[-1] for line in open("/proc/self/maps")}
loaded = sorted(name for name in maps if os.path.basename(name).startswith(("libopenblas", "libjansson")))
print("loaded:", *loaded)
assert len(loaded) == 2 and all(("/stonet/libs/" in name) == (sys.argv[1] == "carried") for name in loaded)
EOF2
cat > "$scratch/try/inside.sh" <<'EOF2'
set -eux
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends "$@" > /dev/null; }
cd /try
install python3-venv python3-pip python3-wheel python3-numpy python3-sklearn libblas3 liblapack3
install gcc libc6-dev cmake make pkg-config libopenblas-openmp-dev liblapacke-dev librandom123-dev zlib1g-dev libjansson-dev
python3 -m venv --system-site-packages built
built/bin/pip install --quiet --no-index --no-build-isolation ./stonet-*.tar.gz
built/bin/python use.py built
# SciPy's package brings OpenBLAS and a compiler along; NumPy can do without
for name in blas lapack; do
    update-alternatives --quiet --set lib$name.so.3-$(uname -m)-linux-gnu /usr/lib/$(uname -m)-linux-gnu/$name/lib$name.so.3
done
find / -xdev ! -type d '(' -name 'libopenblas*' -o -name 'libjansson.*' -o -name 'liblapacke.*' ')' ! -path '/var/*' -delete
if built/bin/python use.py built 2> /dev/null; then exit 1; fi
python3 -m venv --system-site-packages wheel
wheel/bin/pip install --quiet --no-index ./stonet-*.whl
wheel/bin/python use.py carried
EOF2
# shellcheck disable=SC2016 # $1 is for the hook
mmdebstrap --quiet --dpkgopt=force-unsafe-io --variant=minbase --format=null --customize-hook="copy-in '$scratch/try' /" \
    --customize-hook='chroot "$1" sh /try/inside.sh' bookworm /dev/null ${MIRROR:+"$MIRROR"}
echo "the sums are right, the source package builds in a fresh Debian and the wheel runs without the libraries it carries"
