"""The site of `make docs` has every page in its table of contents, and a broken link in it is found."""

from __future__ import annotations

import pytest

from gates import site
from house.collection import tracked

PAGES = {"README.md", "docs/fabric.md", "docs/switches/eos.md", "roles/switch/README.md", "tests/twin/README.md"}
FILES = {*PAGES, "plugins/x.py", "docs/d.py", "tests/twin/src/a.yml"}


def test_the_navigation_names_every_page_once():
    assert site.navigation_problems(site.pages(tracked())) == []


def test_a_page_without_an_entry_and_an_entry_without_a_page_are_problems():
    present = site.pages([*tracked(), "docs/new.md", "plugins/modules/vm_power.py"]) - {"docs/site.md"}
    assert site.navigation_problems(present) == [
        "NAVIGATION of tests/gates/site.py names docs/site.md, which does not exist.",
        "docs/new.md has no entry in NAVIGATION of tests/gates/site.py.",
    ]


@pytest.mark.parametrize(
    "page, text, expected",
    [
        ("docs/fabric.md", "[a](switches/eos.md#b)", "[a](switches/eos.md#b)"),
        ("docs/switches/eos.md", "[a](../fabric.md) [b](#c)", "[a](../fabric.md) [b](#c)"),
        ("docs/fabric.md", "[a](../README.md#b)", "[a](../index.md#b)"),
        ("docs/fabric.md", "[eos](../plugins/x.py)", "`plugins/x.py`"),
        ("docs/fabric.md", "![a](pictures/x.png)", "![a](pictures/x.png)"),
        ("tests/twin/README.md", "[`a`](src/a.yml)", "`tests/twin/src/a.yml`"),
        ("docs/fabric.md", "[a](switches/)", "`docs/switches`"),
        ("docs/fabric.md", "[a](gone.md#b)", "[a](gone.md#b)"),
        ("docs/fabric.md", "[a](https://example.org/b.md)", "[a](https://example.org/b.md)"),
        ("docs/fabric.md", "```text\n[a](b.py)\n```\n[c](d.py)", "```text\n[a](b.py)\n```\n`docs/d.py`"),
        ("docs/fabric.md", "```mermaid\na\n```", "```text\na\n```"),
    ],
)
def test_links_between_pages_stay_and_links_to_other_files_become_their_path(page, text, expected):
    assert site.page_text(page, text, FILES) == expected


def test_the_readme_is_the_start_page_and_carries_the_table_of_contents():
    text = site.page_text("README.md", "# a\n", FILES)
    assert site.page_path("README.md") == "index.md"
    assert text.count("```{toctree}") == len(site.NAVIGATION)
    assert all(f"\n{page}\n" in text for group in site.NAVIGATION.values() for page in group)


def test_the_readme_of_a_role_leads_to_its_options():
    assert "(../../plugins/switch_role.rst)" in site.page_text("roles/switch/README.md", "# a\n", FILES)


def test_pages_of_antsibull_lose_their_tables_of_contents_only():
    text = (
        "a\n\n.. contents::\n   :local:\n   :depth: 2\n\n\nb\n\n.. toctree::\n    :hidden:\n\n    x_module\n\nc\n   d\n"
    )
    assert site.generated_text(text) == "a\n\n\nb\n\n\nc\n   d\n"


def test_a_broken_link_and_a_file_from_elsewhere_are_problems(tmp_path):
    good = '<a href="#b" id="a"></a><a href="b/c.html#d%2B">x</a><a href="https://example.org/">x</a><img src="x.svg">'
    bad = (
        '<p id="d+"></p><a href="../a.html#none">x</a><a href="gone.html">x</a><script src="https://example.org/x.js">'
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "x.svg").touch()
    (tmp_path / "a.html").write_text(f'{good}<p id="b"></p>')
    (tmp_path / "b" / "c.html").write_text(bad)
    (tmp_path / "s.css").write_text("a { background: url('//example.org/x.png') }")
    assert site.site_problems(tmp_path) == [
        "b/c.html links to ../a.html#none, but that page has no such anchor.",
        "b/c.html links to gone.html, which does not exist.",
        "b/c.html loads https://example.org/x.js.",
        "s.css loads from outside.",
    ]
