#!/bin/bash
# make_layers.sh FOLDER: the layers of the demo image, as NAME.tar.gz with NAME.diff_id beside it, and LAYERS, their order.
#
# A Debian userland with python3, numpy and scipy from the distribution's own packages, unpacked without a chroot (nothing in
# the image needs a maintainer script), one large library, and the program that the demo runs. Done once: a second call with
# the same script finds its stamp and returns.
set -euo pipefail
out=$(readlink -m "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source ../images/layers.sh
begin make_layers.sh work.py || exit 0

library_bytes=$((500 << 20))
base=(base-files base-passwd bash coreutils dash findutils grep sed tar gzip libc-bin util-linux ca-certificates)
python=(python3)
science=(python3-numpy python3-scipy)
debian_layers base python science

# What postinst scripts would have linked.
for library in blas lapack; do
  found=$(cd "$scratch/science" && find usr/lib -path "*/$library/lib$library.so.3" -printf '%P\n' | head -1)
  [[ -n $found ]] && ln -sf "$library/lib$library.so.3" "$scratch/science/usr/lib/${found%%/*}/lib$library.so.3"
done

# A library of the size that training images carry: real machine code, so it compresses as such code does. Beyond gzip's 32 KiB
# window it may repeat without being noticed.
mkdir -p "$scratch/library/usr/lib" "$scratch/program/app"
while find "$scratch/science" "$scratch/python" -name '*.so*' -type f -size +64k -print0 | sort -z | xargs -0 cat; do
  : # until head has enough and closes the pipe
done 2>/dev/null | head -c "$library_bytes" >"$scratch/library/usr/lib/libkernels.so" || true
cp work.py "$scratch/program/app/work.py"

for layer in base python science library program; do pack "$layer"; done
finish
