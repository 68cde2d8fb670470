"""What must not be in the tree, and commands that must exist because a page lists them."""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import tomllib

import pytest

from house.collection import ROOT, tracked

# Spelt in pieces, or this file would be its own finding.
FORBIDDEN = {
    "the address of a package registry": r"pypi\." + r"org|registry\." + r"npmjs|files\.python" + r"hosted",
    "an option that names a registry": r"--(extra-)?index" + r"-url|find" + r"-links\s*=",
    "a path of somebody's machine": r"(?<![\w.})])/(Users|work|farm|" + r"root)/[a-z.]",
    "a conflict marker": r"(?m)^<<<<<<" + r"< |^>>>>>>" + r"> ",
}
TEXTS = [name for name in tracked() if name != "LICENSE"]
PAGES = [name for name in TEXTS if name.endswith(".md") and name != "CHANGELOG.md"]
PYTHON = [name for name in TEXTS if name.endswith(".py")]
# A table of data may be longer: a reader looks it up and does not hold it in the head.
LINES_AT_MOST = 450


def text(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what):
    assert [name for name in TEXTS if re.search(FORBIDDEN[what], text(name))] == []


def test_fragments_name_the_twin_as_its_package():
    other = re.compile(r"(?m)^  - (?:[^-\n]*, )?(?:vsphere_twin|twin)(?:,[^-\n]*)? - ")
    assert [name for name in TEXTS if name.startswith("changelogs/fragments/") and other.search(text(name))] == []


def test_sanity_has_nothing_to_ignore():
    assert [name for name in TEXTS if re.match(r"tests/sanity/ignore-", name)] == []


def test_nothing_that_is_shipped_imports_the_twin():
    importing = re.compile(r"(?m)^\s*(from|import) (vsphere_twin|tests)\b")
    assert [name for name in PYTHON if name.startswith("plugins/") and importing.search(text(name))] == []


def test_the_twin_imports_nothing_of_this_repository():
    """It is a package of its own; its tests have their labs beside them."""
    package = tomllib.loads(text("tests/twin/pyproject.toml"))["project"]
    asked = [
        *package["dependencies"],
        *package["optional-dependencies"]["guests"],
        "pytest",
        "vsphere_twin",
        "twin_labs",
    ]
    known = {re.split(r"[<>=]", one)[0].lower() for one in asked} | {"dateutil", "pyvim", "yaml"}
    # Programs that are copied into guests import each other there.
    own = [name for name in PYTHON if re.match("tests/twin/(?!src/vsphere_twin/guests/files/)", name)]
    imported = {(name, top) for name in own for top in _imports(ROOT / name)}
    strange = {(name, top) for name, top in imported if top not in sys.stdlib_module_names and top.lower() not in known}
    assert strange == set()


def _imports(path):
    """The first words of what a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


def test_a_file_fits_in_a_head():
    # To parse a file takes a hundred times as long as to count its lines.
    long = {name: lines for name in PYTHON if (lines := text(name).count("\n")) > LINES_AT_MOST}
    assert {name: lines for name, lines in long.items() if not _is_table(name)} == {}


def _is_table(name: str) -> bool:
    """Whether most of a file is the documentation of a module or one literal."""
    tree = ast.parse(text(name))
    literals = sum(node.end_lineno - node.lineno for node in tree.body if isinstance(node, ast.Assign))
    return literals * 2 > text(name).count("\n")


@pytest.mark.parametrize("page", PAGES)
def test_every_make_command_of_a_page_exists(page):
    targets = set(re.findall(r"(?m)^([a-z0-9-]+):", text("Makefile")))
    commands = re.findall(r"(?m)(?:^|`|\$ )make ([a-z0-9-]+)", text(page))
    assert [command for command in commands if command not in targets] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_of_a_page_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text(page))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not ((ROOT / page).parent / link).exists()] == []


def test_the_readme_names_the_two_commands():
    assert {"rehearse", "test"} <= set(re.findall(r"make ([a-z]+)", text("README.md")))


def test_make_help_speaks_of_every_target_that_people_type():
    makefile = text("Makefile")
    phony = set(re.search(r"(?m)^\.PHONY: (.+)$", makefile)[1].split()) - {"setup"}
    assert phony == set(re.findall(r"(?m)^([a-z0-9-]+):.*## ", makefile))


@pytest.mark.parametrize("path", ["LICENSE", "tests/twin/LICENSE"])
def test_the_licence_is_the_published_text(path):
    """The GPL permits only unchanged copies of its text."""
    digest = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
    assert digest == "3972dc9744f6499f0f9b2dbf76696f2ae7ad8af9b23dde66d6af86c9dfb36986"
