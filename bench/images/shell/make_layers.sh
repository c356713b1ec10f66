#!/bin/bash
# make_layers.sh FOLDER: the layers of shell work, as ../../demo/make_layers.sh writes them: Debian with the tools that install
# scripts use, and such a script. About 40 MB compressed; versions are what the package index has today.
set -euo pipefail
out=$(readlink -m "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source ../layers.sh
begin make_layers.sh work.sh || exit 0

tools=(apt dpkg perl gawk diffutils file patch xz-utils)
debian_layers base tools
ln -s gawk "$scratch/tools/usr/bin/awk" # as its postinst would
mkdir -p "$scratch/program/app"
cp work.sh "$scratch/program/app/work.sh"
for layer in base tools program; do pack "$layer"; done
finish
