"""Original names in the seed of an anonymised capture, by the table of pseudonyms that stays with the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Keys whose values are identifiers of vCenter: vm-101 may look like a pseudonym. `category` and `objects` are those of
# a tag, `from` is the template of a library item.
IDENTIFIERS = frozenset(["moids", "moid", "id", "ids", "portgroupKey", "key", "category", "objects", "from"])
REFERENCE = re.compile(r"[A-Z]\w+:\S+")
PSEUDONYM = re.compile(r"(?<![\w-])([a-z]+-\d{3,})(\.\w+)?(?![\w-])")


def originals(table: Mapping[str, Any]) -> dict[str, str]:
    """The original texts by their pseudonyms, of names and addresses."""
    spelled = table.get("spelled", {})
    found = {made: name for name, made in table.get("addresses", {}).items()}
    for names in table["names"].values():
        found.update({made: spelled.get(name, name) for name, made in names.items()})
    return found


def restored(value: Any, names: Mapping[str, str]) -> Any:
    """A seed with the original names instead of pseudonyms; identifiers of vCenter stay."""
    if isinstance(value, dict):
        return {key: one if key in IDENTIFIERS else restored(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [restored(one, names) for one in value]
    if not isinstance(value, str) or REFERENCE.fullmatch(value):
        return value
    if value in names:
        return names[value]
    return PSEUDONYM.sub(lambda found: _original(found, names), value)


def _original(found: re.Match[str], names: Mapping[str, str]) -> str:
    """A pseudonym of a path has the ending of the path, which the original has too."""
    name, ending = names.get(found[1]), found[2] or ""
    if name is None:
        return found[0]
    return name if ending and name.endswith(ending) else name + ending
