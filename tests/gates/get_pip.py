"""Replacement for the script with which ansible-test installs pip into its virtual environments.

ansible-test would download it from a host that is not a package registry. The wheel of pip is beside this file, fetched
like every other package; pip can install itself from it, on each Python that ansible-test supports.
"""

import os
import pathlib
import sys

wheel = next(pathlib.Path(__file__).resolve().parent.glob("pip-*.whl"))
unknown_to_pip = {"--no-setuptools", "--no-wheel"}
arguments = [argument for argument in sys.argv[1:] if argument not in unknown_to_pip]
offline = ["--no-index", "--find-links", str(wheel.parent)]
os.execv(sys.executable, [sys.executable, str(wheel / "pip"), "install", *offline, *arguments])
