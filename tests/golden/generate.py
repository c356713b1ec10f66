#!/usr/bin/env python3
"""Make the inputs of the golden tests once: OUT/blobs/<case>.blob and OUT/images/<image>/ (OCI layouts).

usage: generate.py OUT

Runs no outside program: blobs that come from one are taken from blobs/. Every blob must have the digest of expected.json.
Does nothing if OUT was made by these same scripts already.
"""
import contextlib, hashlib, io, json, os, shutil, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import make_images
import make_layers


def stamp_of_scripts():
    parts = []
    for name in ("generate.py", "make_layers.py", "make_images.py", "expected.json"):
        with open(os.path.join(HERE, name), "rb") as script:
            parts.append(hashlib.sha256(script.read()).hexdigest())
    return "\n".join(parts)


def shipped(_):
    raise FileNotFoundError


def make_blobs(out):
    with open(os.path.join(HERE, "expected.json")) as file:
        expected = json.load(file)["layers"]
    os.makedirs(out)
    for name, case in make_layers.CASES.items():
        if case["ext"]:
            case.update(fn=shipped, shipped=True)
        with contextlib.redirect_stdout(io.StringIO()):
            make_layers.build(name, out)
        with open(os.path.join(out, name + ".blob"), "rb") as blob:
            digest = hashlib.sha256(blob.read()).hexdigest()
        if digest != expected[name]["blob_sha256"]:
            sys.exit("%s: made other bytes than recorded; this needs Debian 12's own zlib" % name)


def main(out):
    stamp = os.path.join(out, "stamp")
    wanted = stamp_of_scripts()
    if os.path.exists(stamp) and open(stamp).read() == wanted:
        return
    shutil.rmtree(out, ignore_errors=True)
    make_blobs(os.path.join(out, "blobs"))
    for name in make_images.IMAGES:
        make_images.build(name, os.path.join(out, "blobs"), os.path.join(out, "images"))
    with open(stamp, "w") as file:
        file.write(wanted)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
