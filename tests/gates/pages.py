"""The pages of modules and roles as HTML, made from what ansible-doc knows: `make docs`."""

from __future__ import annotations

import shutil
import sys

from gates.running import BUILD, Gate, GateFailed, Running, environment, tool

SOURCE = BUILD / "docs" / "rst"
HTML = BUILD / "docs" / "html"
SETTINGS = """\
project = "aiready.vsphere"
extensions = ["sphinx_antsibull_ext"]
html_theme = "alabaster"
# Links into the pages of other collections, which are not made here.
suppress_warnings = ["ref.ref"]
"""


def make(gate: Gate) -> None:
    """antsibull-docs writes the pages, sphinx sets them."""
    shutil.rmtree(BUILD / "docs", ignore_errors=True)
    SOURCE.mkdir(parents=True, mode=0o755)
    pages = ["collection", "--use-current", "--squash-hierarchy", "--dest-dir", str(SOURCE), "aiready.vsphere"]
    gate.call([tool("antsibull-docs"), *pages], env=environment())
    (SOURCE / "conf.py").write_text(SETTINGS)
    gate.call([tool("sphinx-build"), "-q", "-b", "html", str(SOURCE), str(HTML)])


if __name__ == "__main__":
    work = Gate("pages", Running())
    try:
        make(work)
    except GateFailed as failure:
        sys.exit(f"{work.log.read_text()}\n{failure}")
    print(f"{HTML / 'index.html'}")
