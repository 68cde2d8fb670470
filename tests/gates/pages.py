"""Build all pages of the project as one HTML site, with the pages of ansible-doc: `make docs`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gates import pythons, site, venvs
from gates.running import BUILD, ROOT, Gate, GateFailed, Running, environment, tool
from gates.tree import tracked

SOURCE = BUILD / "docs" / "source"
HTML = BUILD / "docs" / "html"
SETTINGS = """\
project = html_title = "aiready.vsphere"
extensions = ["myst_parser", "sphinx_antsibull_ext"]
html_theme = "furo"
html_static_path, html_css_files = ["static"], ["site.css"]
html_copy_source = html_show_copyright = False
# Options such as --check stay as they are.
smartquotes = False
# As GitHub makes them.
myst_heading_anchors = 6
# The tables of options in the colours of the theme, light and dark.
antsibull_ext_color_scheme = "none"
_colours = {
    "table-background-header narrowtable-background deprecation-background": "background-secondary",
    "table-background-even table-background-odd links-text": "background-primary",
    "table-border deprecation-border": "background-border",
    "option-required attribute-support-none": "problematic",
    "option-type option-elements option-version-added option-aliases": "foreground-secondary",
    "option-default option-sample links-background links-background-active links-focus-outline": "brand-content",
    "option-sample-header attribute-support-partial attribute-support-full attribute-support-na deprecation-color":
        "foreground-primary",
}
html_theme_options = {
    "light_css_variables": {
        f"antsibull-{name}": f"var(--color-{colour})" for names, colour in _colours.items() for name in names.split()
    }
}


def setup(app):
    app.connect("missing-reference", _elsewhere)


def _elsewhere(app, env, node, text):
    # Pages of Ansible and of other collections are not here: their names stay as text.
    elsewhere = node["reftype"] == "ref" and not node["reftarget"].startswith("ansible_collections.aiready.vsphere.")
    return text if elsewhere else None
"""
# Long names fit on a phone.
STYLE = "@media (max-width: 46em) { h1 { font-size: 1.7rem } h2 { font-size: 1.4rem } h3 { font-size: 1.2rem } }\n"


def make(gate: Gate) -> None:
    """antsibull-docs writes the pages of modules, roles and plugins; sphinx builds the site of these and ours."""
    shutil.rmtree(BUILD / "docs", ignore_errors=True)
    files = {path.as_posix() for path in tracked()}
    present = site.pages(files)
    _hold(site.navigation_problems(present))
    _write_generated(gate, SOURCE / "plugins")
    for name in present:
        target = SOURCE / site.page_path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(site.page_text(name, (ROOT / name).read_text(), files))
    shutil.copytree(ROOT / site.PICTURES, SOURCE / site.PICTURES)
    (SOURCE / "conf.py").write_text(SETTINGS)
    (SOURCE / "static").mkdir()
    (SOURCE / "static" / "site.css").write_text(STYLE)
    python = pythons.find(sys.version_info.minor) or Path(sys.executable)
    sphinx = venvs.of_lock(gate, python, "docs-venv", "docs") / "bin" / "sphinx-build"
    gate.call([str(sphinx), "-q", "-W", "--keep-going", "-j", "auto", "-b", "html", str(SOURCE), str(HTML)])
    _hold(site.site_problems(HTML))


def _write_generated(gate: Gate, folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    options = ["collection", "--use-current", "--squash-hierarchy", "--dest-dir", str(folder), "aiready.vsphere"]
    gate.call([tool("antsibull-docs"), *options], env=environment())
    for page in folder.glob("*.rst"):
        page.write_text(site.generated_text(page.read_text()))


def _hold(problems: list[str]) -> None:
    if problems:
        raise GateFailed("\n".join(problems))


if __name__ == "__main__":
    work = Gate("pages", Running())
    try:
        make(work)
    except GateFailed as failure:
        sys.exit(f"{work.log.read_text()}\n{failure}")
    print(f"{HTML / 'index.html'}")
