#!/bin/bash
# make_layers.sh FOLDER: the layers of a real training image, as ../../demo/make_layers.sh writes them: Debian, Python, PyTorch
# with its CUDA libraries (one layer with most of the bytes, as `pip install torch` makes it), what stands beside it, and the
# work. About 3.3 GB compressed, 6.5 GB unpacked; some minutes and 14 GB of disk. Versions are what the package index has today: the
# files' digests are in LAYERS' neighbours, so two results can be told apart.
set -euo pipefail
out=$(readlink -m "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source ../layers.sh
begin make_layers.sh work.py || exit 0

base=(base-files base-passwd bash coreutils dash findutils grep sed tar gzip libc-bin util-linux ca-certificates)
python=(python3 libgomp1 libstdc++6)
debian_layers base python

# wheels LAYER NAME...: the wheels and what they need, into the layer; what an earlier layer has is left out.
site=usr/local/lib/python3.11/dist-packages
wheels() {
  local layer=$1
  shift
  mkdir -p "$scratch/$layer/$site"
  python3 -m pip install --quiet --no-cache-dir --disable-pip-version-check --root-user-action ignore --only-binary :all: \
    --python-version 3.11 --implementation cp --target "$scratch/$layer/$site" "$@"
}
wheels torch torch
wheels beside torch torchvision transformers pandas scipy
(cd "$scratch/torch/$site" && find . ! -type d -print0) | (cd "$scratch/beside/$site" && xargs -0 rm -f)
find "$scratch/beside" -type d -empty -delete
# The same pyc as the image's own Python would write: 3.11 of any patch level has one format.
python3.11 -m compileall -q "$scratch/torch/$site" "$scratch/beside/$site" -s "$scratch/torch" >/dev/null 2>&1 || true

mkdir -p "$scratch/program/app"
cp work.py "$scratch/program/app/work.py"
for layer in base python torch beside program; do pack "$layer"; done
finish
