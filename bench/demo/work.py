"""What the demo runs in the container: says hello, imports numpy and scipy, computes a little, reads here and there in the
large library as a loader of kernels would, and says when it is done."""

print("hello", flush=True)

import mmap
import time

start = time.monotonic()
import numpy
import scipy.linalg
import scipy.optimize
import scipy.sparse

print(f"imported numpy {numpy.__version__}, scipy {scipy.__version__}", flush=True)

random = numpy.random.default_rng(7)
matrix = random.standard_normal((200, 200))
solution = scipy.linalg.solve(matrix, numpy.ones(200))
assert numpy.allclose(matrix @ solution, 1)

touched = 0
with open("/usr/lib/libkernels.so", "rb") as library:
    with mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        for begin in range(0, len(mapped), 64 << 20):
            touched += sum(mapped[begin : begin + (256 << 10) : 4096])

print(f"done {touched}", flush=True)
