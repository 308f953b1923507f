#!/bin/sh
# Give a wheel the name of the oldest systems it runs on, and put it into dist:  finish_wheel.sh <venv> <from> <dist>
# On Linux auditwheel finds the least glibc that its symbols need; elsewhere the name is right as it is.
set -eu
venv=$(cd "$1" && pwd) from=$2 dist=$3
PATH=$venv/bin:$PATH
mkdir -p "$dist"
wheel=$(ls -t "$from"/everytree-*.whl | head -n 1)
if [ "$(uname -s)" = Linux ]; then
  auditwheel show "$wheel" | tr '\n' ' ' | sed 's/  */ /g'
  echo
  auditwheel repair --wheel-dir "$dist" "$wheel"
else
  cp "$wheel" "$dist"
fi
ls -l "$dist"/everytree-*.whl
