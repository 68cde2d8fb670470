"""Python starts with this wherever tests and the rehearsal start it: what they import is compiled once."""

import gc
import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
FOLDERS = [TESTS, os.path.join(TESTS, "twin", "src", "vsphere_twin", "guests", "files")]
sys.path[:0] = FOLDERS
try:
    import lab_bytecode

    import kept_code
finally:
    del sys.path[: len(FOLDERS)]

lab_bytecode.install(kept_code.FOLDER)
kept_code.install()
# Most objects of tests and playbooks live until their process ends, and garbage collections search them repeatedly.
# Python with no argument reads a module of Ansible from its input: that process ends before it needs a collection.
# Measurements in tests/bench leave Python as users have it.
if "AIREADY_BENCH" not in os.environ:
    gc.set_threshold(1_000_000 if len(sys.orig_argv) == 1 else 20_000, 10, 10)
