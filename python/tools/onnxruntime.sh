#!/usr/bin/env bash
# onnxruntime.sh PROGRAM: models of every method, exported and run in the onnxruntime of a Debian 13 that is made for it, against
# what the program answers; prints the largest difference of every method. MIRROR says where Debian comes from, if not from
# where mmdebstrap takes it.
set -euo pipefail
program=$(realpath "${1:?usage: onnxruntime.sh PROGRAM}")
tests=$(cd "$(dirname "$0")/../tests" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/try"
/usr/bin/python3 "$tests/export_samples.py" "$program" "$scratch/try/samples"
cp "$tests/onnx_run.py" "$scratch/try"
cat > "$scratch/try/inside.sh" <<'END'
cd /try
python3 -c 'import onnx, onnxruntime; print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)' 2> words &&
    python3 onnx_run.py samples --table 2> words
status=$?
# two libraries of Debian tell each other of every operator
grep -v -e '^Schema error: ' -e '^$' words >&2
exit $status
END
# shellcheck disable=SC2016 # $1 is for the hook
mmdebstrap --quiet --dpkgopt=force-unsafe-io --variant=apt --format=null --include=python3-onnxruntime,python3-onnx,python3-numpy \
    --customize-hook="copy-in '$scratch/try' /" --customize-hook='chroot "$1" sh /try/inside.sh' trixie /dev/null ${MIRROR:+"$MIRROR"}
