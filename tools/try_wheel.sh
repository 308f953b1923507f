#!/bin/sh
# Install the newest wheel of a folder into an empty environment, and use it:  try_wheel.sh <python> <dist> <folder>
set -eu
python=$1 wheel=$(ls -t "$2"/everytree-*.whl | head -n 1) folder=$3
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/python" - "$wheel" <<'PY'
import resource
import subprocess
import sys
import time

begin = time.monotonic()
subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", sys.argv[1]], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"installed in {time.monotonic() - begin:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of the processor")
PY
cd "$folder"
bin/everytree info
bin/everytree demo --out pictures > demo.txt
tail -n 12 demo.txt
bin/python - <<'PY'
import everytree as et
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
model = et.OptimalTreeClassifier(max_depth=2).fit(X, y)
assert model.optimal_ and model.score(X, y) > 0.9, model.score(X, y)
space = {}
exec(model.to_python(), space)
assert all(space["predict"](dict(zip(("x0", "x1", "x2", "x3"), row))) == said for row, said in zip(X, model.predict(X)))
print("the wheel works")
PY
