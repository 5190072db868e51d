#!/usr/bin/env bash
# Makes a virtual environment for each file of requirements that this machine has a
# Python for, in a cache that survives (ALIASCHECK_CI_CACHE, else that of the user), and
# prints "NAME DIRECTORY" for each. What a file says decides the directory's name: a
# changed file makes a new one.
set -euo pipefail
cd "$(dirname "$0")"
cache="${ALIASCHECK_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aliascheck-ci}"
mkdir -p "$cache"

# newest_python MAJOR.MINOR: the first Python of at least that version that is here.
newest_python() {
  local p
  for p in python3.12 python3.13 python3.11 python3 python3.14; do
    if "$p" -c "import sys, ensurepip; sys.exit(not (tuple(map(int, '$1'.split('.'))) <= sys.version_info[:2] <= (3, 13)))" 2>/dev/null; then
      command -v "$p"
      return
    fi
  done
  for p in "$HOME"/.pyenv/versions/3.1[2-3]*/bin/python3; do
    if [ -x "$p" ]; then
      echo "$p"
      return
    fi
  done
}

for file in "${@:-requirements/*.txt}"; do
  for file in $file; do
    name="$(basename "$file" .txt)"
    case "$name" in
      jax-0.11*) python="$(newest_python 3.12)" ;;
      *) python="$(newest_python 3.11)" ;;
    esac
    if [ -z "$python" ]; then
      echo "no Python for $name: its tests are left out" >&2
      continue
    fi
    version="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
    dir="$cache/$name-py$version-$(sha256sum "$file" | cut -c1-12)"
    if [ ! -e "$dir/ready" ]; then
      rm -rf "$dir"
      "$python" -m venv "$dir"
      "$dir/bin/pip" install -q --disable-pip-version-check -r "$file" >&2
      touch "$dir/ready"
    fi
    echo "$name $dir"
  done
done
