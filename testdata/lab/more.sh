#!/bin/sh
# Makes ../more anew on a machine with a card of compute capability 9.0, nvcc, JAX for CUDA and Triton.
#
#   sh more.sh WORKDIR [CASE...]     WORKDIR, an absolute path, keeps the programs and whole dumps
#
# The sources go to WORKDIR/src, from where they run: metadata shows what follows it.
set -eu
work=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work/src" "$work/dump"
cp "$here"/*.py "$here"/*.cu "$work/src/"
cd "$work/src"
nvcc -ptx -arch=sm_90a warpkernels.cu
nvcc -ptx -arch=sm_90a bulkkernels.cu
[ $# -gt 0 ] || set -- $(sed -n '/^@prog/{n;s/^def \([a-z0-9_]*\).*/\1/p}' more.py)
for name in "$@"; do # each in a process of its own
    rm -rf "$work/dump/$name" "$here/../more/$name"
    XLA_PYTHON_CLIENT_PREALLOCATE=false \
        XLA_FLAGS="--xla_dump_to=$work/dump/$name --xla_dump_hlo_as_proto --xla_dump_hlo_as_text" \
        python3 -B more.py "$name" 2>"$work/$name.err"
    mkdir -p "$here/../more/$name"
    for end in .hlo.pb .txt -buffer-assignment.txt; do
        cp "$work/dump/$name"/*".jit_$name".sm_*gpu_after_optimizations$end "$here/../more/$name/"
    done
done
