# What the recipes of images share; to be sourced. A recipe sets `out` (where NAME.tar.gz, NAME.diff_id and LAYERS, their
# order, go) and calls `begin SOURCE...`: it returns 1 if these sources have been built there before.

begin() {
  stamp=$(cat "$@" "${BASH_SOURCE[0]}" | sha256sum | cut -d' ' -f1)
  [[ -f $out/stamp && $(<"$out/stamp") == "$stamp" ]] && return 1
  scratch=$out/scratch
  rm -rf "$out"
  mkdir -p "$scratch"/{status,archives/partial}
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 130' INT TERM
  : >"$scratch/status/status"
}

# fetch PACKAGE...: into archives, by an apt that believes nothing is installed, so that it names everything the image needs.
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

# What the root of an image of Debian has, for a recipe's first group.
base=(base-files base-passwd bash coreutils dash findutils grep sed tar gzip libc-bin ca-certificates)

# debian_layers GROUP...: unpacks a layer for each array of package names. Each group is fetched together with those before
# it, as apt resolves alternatives by what it sees; a package goes into the first layer that needs it.
debian_layers() {
  local group so_far=() name
  for group in "$@"; do
    declare -n packages=$group
    so_far+=("${packages[@]}")
    fetch_or_update "${so_far[@]}"
    [[ -f $scratch/names ]] && while read -r name; do rm -f "$scratch/archives/$name"; done <"$scratch/names"
    ls "$scratch/archives" | grep '\.deb$' >>"$scratch/names"
    unpack "$group"
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

finish() {
  du -ch "$out"/*.tar.gz | tail -1
  echo "$stamp" >"$out/stamp"
}
