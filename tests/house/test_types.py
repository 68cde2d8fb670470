"""The core packages use the type Any only in the listed files, each with its number of places."""

import ast
from collections import Counter

from house.collection import ROOT

PACKAGES = ("core", "fabric", "training", "vm")
PLACE = ROOT / "plugins" / "module_utils"
MAPPINGS = ("Dict", "Mapping", "MutableMapping", "dict")
# Files with values of any type, and how many: JSON of another system, and nouns of several kinds side by side.
KNOWN = {
    "core/journal.py": 9,
    "fabric/compare.py": 3,
    "fabric/hosts/dcb_text.py": 1,
    "fabric/hosts/words.py": 1,
    "fabric/lines.py": 2,
    "fabric/platform.py": 1,
    "fabric/platforms/cumulus/rules.py": 1,
    "fabric/platforms/cumulus/state.py": 2,
    "fabric/platforms/cumulus/text.py": 5,
    "fabric/platforms/eos/platform.py": 1,
    "fabric/platforms/onyx/settings.py": 2,
    "fabric/platforms/os10/text.py": 1,
    "fabric/state.py": 1,
    "fabric/verify.py": 2,
    "training/output.py": 2,
    "vm/clone/library.py": 1,
    "vm/config/noun.py": 6,
    "vm/config/params.py": 2,
}


def escapes(source):
    """Return the lines with the type Any, except as the values of a dictionary, which options and JSON need."""
    tree = ast.parse(source)
    values = {
        node.slice.elts[1]
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in MAPPINGS
        and isinstance(node.slice, ast.Tuple)
    }
    return [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Any" and node not in values
    ]


def test_an_escape_is_found_and_the_value_of_a_dictionary_is_none():
    assert escapes("def read(text: str) -> Any:\n    return cast(Any, text)") == [1, 2]
    assert escapes("def options(params: Mapping[str, Any]) -> dict[str, Any]: ...") == []


def test_no_other_value_escapes_the_type_checker():
    files = (path for package in PACKAGES for path in (PLACE / package).rglob("*.py"))
    found = Counter({path.relative_to(PLACE).as_posix(): len(escapes(path.read_text())) for path in files})
    assert dict(sorted((+found).items())) == KNOWN
