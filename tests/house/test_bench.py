"""What `make bench` measures starts, as it does there: in an interpreter that no test has prepared."""

from __future__ import annotations

import os
import subprocess
import sys

from supervise.runs import PYTHONPATH


def test_measurements_start_without_what_tests_prepare():
    names = ("fabric", "mig_planner", "placement", "training_vms", "vgpu_fleet")
    ask = f"from bench import {', '.join(names)}; print(*(one.main.__name__ for one in ({', '.join(names)})))"
    env = {**os.environ, "PYTHONPATH": PYTHONPATH}
    asked = subprocess.run([sys.executable, "-c", ask], env=env, capture_output=True, text=True, check=False)
    assert asked.stdout == "main main main main main\n", asked.stderr
