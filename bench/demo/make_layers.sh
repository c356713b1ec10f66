#!/bin/bash
# make_layers.sh FOLDER: the layers of the demo image, as NAME.tar.gz with NAME.diff_id beside it, and LAYERS, their order.
#
# A Debian userland with python3, numpy and scipy from the distribution's own packages, unpacked without a chroot (nothing in
# the image needs a maintainer script), one large library, and the program that the demo runs. Done once: a second call with
# the same script finds its stamp and returns.
set -euo pipefail
out=$(readlink -m "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
stamp=$(cat make_layers.sh work.py | sha256sum | cut -d' ' -f1)
[[ -f $out/stamp && $(<"$out/stamp") == "$stamp" ]] && exit 0

scratch=$out/scratch
library_bytes=$((500 << 20))
base=(base-files base-passwd bash coreutils dash findutils grep sed tar gzip libc-bin util-linux ca-certificates)
python=(python3)
science=(python3-numpy python3-scipy)

rm -rf "$out"
mkdir -p "$scratch"/{status,archives/partial}
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# An apt that believes nothing is installed, so that it names everything the image needs. `apt PACKAGES`: into archives.
: >"$scratch/status/status"
fetch() {
  apt-get -q -y --no-install-recommends -o Dir::State::status="$scratch/status/status" -o APT::Sandbox::User=root \
    -o Dir::Cache::archives="$scratch/archives" --download-only install "$@" >"$scratch/apt.log" 2>&1
}
fetch_or_update() { fetch "$@" || { apt-get -q update >/dev/null && fetch "$@"; } || { cat "$scratch/apt.log" >&2; exit 1; }; }

# unpack NAME: what has been downloaded since the last call, as the root directory of a layer.
unpack() {
  local root=$scratch/$1 package folder
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
  for package in "$scratch"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --keep-directory-symlink -xpf - -C "$root"
    rm "$package"
  done
}

# pack NAME: the layer of that root directory.
pack() {
  tar --sort=name --numeric-owner --xattrs -cf - -C "$scratch/$1" . |
    tee >(sha256sum | sed 's/ .*//; s/^/sha256:/' >"$out/$1.diff_id") | pigz -n -6 >"$out/$1.tar.gz"
  until [[ -s $out/$1.diff_id ]]; do sleep 0.05; done # its process may end after the pipe does
  echo "$1" >>"$out/LAYERS"
  rm -rf "${scratch:?}/$1"
}

# Each group is fetched together with those before it, as apt resolves alternatives by what it sees; a package goes into the
# first layer that needs it.
groups=(base python science)
declare -a so_far=()
for group in "${groups[@]}"; do
  declare -n packages=$group
  so_far+=("${packages[@]}")
  fetch_or_update "${so_far[@]}"
  # Drop what a layer below has.
  [[ -f $scratch/names ]] && while read -r name; do rm -f "$scratch/archives/$name"; done <"$scratch/names"
  ls "$scratch/archives" | grep '\.deb$' >>"$scratch/names"
  unpack "$group"
done

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

for layer in "${groups[@]}" library program; do pack "$layer"; done
du -ch "$out"/*.tar.gz | tail -1
echo "$stamp" >"$out/stamp"
