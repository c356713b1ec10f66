#!/bin/bash
# make_layers.sh FOLDER: the layers of a Java server, as ../../demo/make_layers.sh writes them: Debian, a Java runtime (most of it one
# file of modules that is mapped), and the server, compiled by that runtime. About 100 MB compressed; versions are what the
# package index has today.
set -euo pipefail
out=$(readlink -m "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source ../layers.sh
begin make_layers.sh Server.java || exit 0

java=(openjdk-17-jre-headless)
compiler=(ecj)
debian_layers base java compiler
home=usr/lib/jvm/java-17-openjdk-$(dpkg --print-architecture)
mkdir -p "$scratch/program/app"
"$scratch/java/$home/bin/java" -cp "$scratch/compiler/usr/share/java/*" org.eclipse.jdt.internal.compiler.batch.Main -proc:none --release 17 -d "$scratch/program/app" Server.java
ln -s "/$home/bin/java" "$scratch/program/app/java"
for layer in base java program; do pack "$layer"; done
finish
