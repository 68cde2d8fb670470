"""The tables of inputs in the roles' READMEs and in docs/site.md, made from the argument specifications.

`python tests/house/role_readme.py` writes them, with `--check` it only says which are out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from house.collection import parsed

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- inputs: made by tests/house/role_readme.py -->", "<!-- end of inputs -->"
HEAD = ["| Input | Type | Default | Description |", "|---|---|---|---|"]


def pages(root: Path = ROOT) -> dict[Path, str]:
    """Every page that holds a table, with the table that it should hold."""
    tables = {}
    for spec in sorted(root.glob("roles/*/meta/argument_specs.yml")):
        options = parsed(spec.read_text())["argument_specs"]["main"]["options"]
        tables[spec.parents[1] / "README.md"] = table(options)
        if spec.parents[1].name == "site":
            tables[root / "docs" / "site.md"] = table(options)
    return tables


def table(options: dict) -> str:
    return "\n".join([*HEAD, *_rows(options)])


def _rows(options: dict, prefix: str = "") -> Iterator[str]:
    for name, option in options.items():
        yield f"| `{prefix}{name}` | {_type(option)} | {_default(option)} | {_meaning(option)} |"
        below = f"{prefix}{name}[]." if option["type"] == "list" else f"{prefix}{name}."
        yield from _rows(option.get("options", {}), below)


def _type(option: dict) -> str:
    return f"list of {option['elements']}" if option["type"] == "list" else option["type"]


def _default(option: dict) -> str:
    if option.get("required"):
        return "required"
    value = option.get("default")
    if value is None:
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else "empty"


def _meaning(option: dict) -> str:
    # One sentence can be a text instead of a list.
    parts = option["description"]
    text = " ".join(map(_plain, [parts] if isinstance(parts, str) else parts))
    choices = ", ".join(f"`{choice}`" for choice in option.get("choices", []))
    return (f"One of {choices}. " if choices else "") + text


def _plain(text: str) -> str:
    """Ansible's markup as Markdown."""
    text = re.sub(r"[OVECM]\(([^)]+)\)", r"`\1`", " ".join(text.split()))
    return text.replace("|", "\\|")


def renewed(page: Path, wanted: str, opened: str = BEGIN, closed: str = END) -> str:
    """The page with its table renewed, which stands between two lines."""
    before, found, rest = page.read_text().partition(opened)
    _old, ended, after = rest.partition(closed)
    if not (found and ended):
        raise SystemExit(f"{page}: there is no place for the table. Add the lines\n{opened}\n{closed}")
    return f"{before}{opened}\n{wanted}\n{closed}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail when a page is out of date")
    check = parser.parse_args().check
    stale = [page for page, wanted in pages().items() if page.read_text() != renewed(page, wanted)]
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'is out of date, run tests/house/role_readme.py' if check else 'renewed'}")
        if not check:
            page.write_text(renewed(page, pages()[page]))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
