"""Python starts with this wherever tests and the rehearsal start it: what they import is compiled once."""

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
