#!/bin/bash
# make_layers.sh FOLDER: the layers of a Node server, as ../../demo/make_layers.sh writes them: Debian, Node with express and what
# that needs (hundreds of small files), and the server. About 60 MB compressed; versions are what the package index has today.
set -euo pipefail
out=$(readlink -m "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source ../layers.sh
begin make_layers.sh server.js || exit 0

node=(nodejs node-express node-body-parser)
debian_layers base node
mkdir -p "$scratch/program/app"
cp server.js "$scratch/program/app/server.js"
for layer in base node program; do pack "$layer"; done
finish
