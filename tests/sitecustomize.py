"""Python starts with this wherever tests and the rehearsal start it: modules in zips are compiled once."""

import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(TESTS, "twin", "src", "vsphere_twin", "guests", "files"))
try:
    import lab_bytecode
finally:
    del sys.path[0]

lab_bytecode.install(os.path.join(os.path.dirname(TESTS), ".build", "bytecode"))
