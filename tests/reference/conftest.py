"""Make ``reference_helpers`` importable by the tests of this folder, whatever import mode pytest runs in."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
