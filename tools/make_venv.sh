#!/bin/sh
# Make a virtual environment with pip:  make_venv.sh <folder> [python]
# Without a python, the first of the usual names that is Python 3.11 or newer.
set -eu
venv=$1
wanted=${2:-}
recent='import sys; sys.exit(sys.version_info < (3, 11))'

# Kept when it works: `uv run` may have made it, without pip.
if "$venv/bin/python" -c "$recent" 2>/dev/null; then
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip --upgrade >/dev/null
  echo "==> Using $venv ($("$venv/bin/python" --version))"
  exit 0
fi

python=
for name in ${wanted:-python3 python python3.14 python3.13 python3.12 python3.11}; do
  if "$name" -c "$recent" 2>/dev/null; then
    python=$name
    break
  fi
done
if [ -z "$python" ]; then
  echo "No Python 3.11 or newer found (tried: ${wanted:-python3 python python3.14 … python3.11})." >&2
  echo "Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
  exit 1
fi

echo "==> Making $venv with $python ($("$python" --version))"
if ! "$python" -m venv --clear "$venv"; then
  echo "$python could not make a virtual environment. On Debian or Ubuntu: apt install python3-venv" >&2
  exit 1
fi
