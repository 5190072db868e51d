#!/usr/bin/env bash
# Compiles patches.cu for every architecture into patches.fatbin.gz, with the compiler and
# the headers that PyPI has: build.sh FOLDER [OUTPUT]. No GPU is needed.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [OUTPUT]" >&2; exit 2; }
here="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1"
venv="$(cd "$1" && pwd)/cuda"
out="${2:-$here/patches.fatbin.gz}"
versions="nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-runtime==13.5.37 nvidia-cuda-sanitizer-api==13.5.25"
if [ "$(cat "$venv/versions" 2>/dev/null)" != "$versions" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  # shellcheck disable=SC2086
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $versions
  echo "$versions" >"$venv/versions"
fi
cuda="$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)"
codes=()
for sm in 75 80 86 89 90 100 103 120; do codes+=(-gencode "arch=compute_$sm,code=sm_$sm"); done
# The name of the source stands in the code: compile by its bare name.
cd "$here"
"$cuda/bin/nvcc" -O3 --fatbin --compile-as-tools-patch "${codes[@]}" \
  -I"$cuda/compute-sanitizer/include" -I"$cuda/include" patches.cu -o "$venv/patches.fatbin"
gzip -9 -n -c "$venv/patches.fatbin" >"$out"
