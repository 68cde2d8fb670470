"""What the collection consists of, read from its files: the base of every comparison of lists."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
NAME = "aiready.vsphere"


def parsed(text: str) -> Any:
    """YAML text. The parser in C needs a tenth of the time, and the documentation of modules is read many times."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def load(path: str | Path) -> Any:
    """A YAML file of the collection."""
    return parsed((ROOT / path).read_text())


def modules() -> dict[str, Path]:
    """Modules by name."""
    return {path.stem: path for path in sorted((ROOT / "plugins" / "modules").glob("*.py")) if path.stem != "__init__"}


def roles() -> dict[str, Path]:
    """Roles by name."""
    return {path.name: path for path in sorted((ROOT / "roles").iterdir()) if path.is_dir()}


def constants(path: Path) -> dict[str, str]:
    """Texts that a Python file assigns at its top or in a class, such as DOCUMENTATION."""
    tree = ast.parse(path.read_text())
    return {
        node.targets[0].id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def documentation(path: Path) -> dict:
    """The DOCUMENTATION of a plugin or fragment."""
    return parsed(constants(path)["DOCUMENTATION"])


def filter_example(name: str) -> dict:
    """The variables of the first example of a filter."""
    return parsed(load(f"plugins/filter/{name}.yml")["EXAMPLES"])[0]["vars"]


def filter_sample(name: str) -> object:
    """The value that the documentation of a filter shows."""
    return load(f"plugins/filter/{name}.yml")["RETURN"]["_value"]["sample"]


@cache
def tracked() -> tuple[str, ...]:
    """Names of the files that belong to the collection's repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()}))


def option_type_fits(value: object, option: dict) -> bool:
    """Whether a value is what an option of an argument spec takes."""
    kinds = {"str": str, "path": str, "int": int, "bool": bool, "list": list, "dict": dict, "float": (int, float)}
    kind = option["type"]
    if isinstance(value, bool) and kind != "bool":
        return False
    if isinstance(value, str) and "{{" in value:
        return True
    if not isinstance(value, kinds[kind]):
        return False
    if kind != "list" and "choices" in option and value not in option["choices"]:
        return False
    if kind == "list":
        # The choices of a list are those of its entries.
        element = {"type": option["elements"], **{key: option[key] for key in ("choices",) if key in option}}
        return all(option_type_fits(entry, element) for entry in value)
    return True
