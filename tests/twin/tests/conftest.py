"""The tests are of the package that is installed; in a checkout where it is not, of its sources."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("vsphere_twin") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
