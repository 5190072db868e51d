#!/usr/bin/env bash
# Makes what the suite needs in a folder: a virtual environment with JAX from PyPI,
# and the kernels as a shared library. Does nothing where all is up to date.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
here="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1"
work="$(cd "$1" && pwd)"
venv="$work/venv"

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/requirements.txt"
fi

library="$work/jaxsuite.so"
if [ "$here/handlers.cc" -nt "$library" ] || [ "$venv/requirements.txt" -nt "$library" ]; then
  include="$("$venv/bin/python" -c 'import jax; print(jax.ffi.include_dir())')"
  "${CXX:-g++}" -std=c++17 -O1 -fPIC -shared -isystem "$include" -o "$library.new" "$here/handlers.cc"
  mv "$library.new" "$library"
fi
