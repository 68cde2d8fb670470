"""Options that many modules share are written twice, as a spec and as documentation: the two must say the same."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from house.collection import NAME, ROOT, documentation

UTILS = ROOT / "plugins" / "module_utils"
SAID_ALIKE = ("type", "default", "choices", "elements", "required")


def specs() -> dict[str, dict]:
    """Every argument spec of an args.py, as `vcenter/args.py:CONNECTION`."""
    found = {}
    for path in sorted(UTILS.rglob("args.py")):
        where = path.relative_to(UTILS)
        dotted = ".".join(where.with_suffix("").parts)
        module = importlib.import_module(f"ansible_collections.{NAME}.plugins.module_utils.{dotted}")
        for name, value in vars(module).items():
            if name.isupper() and not name.startswith("_") and isinstance(value, dict):
                found[f"{where}:{name}"] = value
    return found


def fragments() -> dict[str, list[str]]:
    """Every fragment with the specs that its docstring says it documents."""
    found = {}
    for path in sorted((ROOT / "plugins" / "doc_fragments").glob("*.py")):
        said = re.search(r"the spec is (.+) in module_utils/(\S+\.py)", _docstring(path))
        if said is not None:
            found[path.stem] = [f"{said[2]}:{name}" for name in re.findall(r"[A-Z][A-Z_]+", said[1])]
    return found


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def _options(fragment: str) -> dict:
    return documentation(ROOT / "plugins" / "doc_fragments" / f"{fragment}.py")["options"]


def _spec(fragment: str) -> dict:
    return {name: option for spec in fragments()[fragment] for name, option in specs()[spec].items()}


def test_every_shared_spec_is_documented_by_exactly_one_fragment():
    assert sorted(spec for named in fragments().values() for spec in named) == sorted(specs())


@pytest.mark.parametrize("fragment", fragments())
def test_a_fragment_documents_every_option_of_its_spec(fragment):
    assert set(_options(fragment)) == set(_spec(fragment))


@pytest.mark.parametrize("fragment", fragments())
def test_a_fragment_and_its_spec_say_the_same_of_an_option(fragment):
    for name, option in _spec(fragment).items():
        documented = _options(fragment)[name]
        assert {key: documented.get(key) for key in SAID_ALIKE} == {key: option.get(key) for key in SAID_ALIKE}, name


@pytest.mark.parametrize("fragment", fragments())
def test_a_fragment_names_the_environment_variables_of_an_option(fragment):
    for name, option in _spec(fragment).items():
        variables = option["fallback"][1] if "fallback" in option else []
        described = " ".join(_options(fragment)[name]["description"])
        assert set(re.findall(r"E\((\w+)\)", described)) >= set(variables), name


def test_whatever_sounds_like_a_secret_is_kept_out_of_logs():
    # A file of a secret is none: messages have to name it.
    secret = re.compile(r"(password|token|secret|private_key|session_id)(?!.*_file$)")
    open_ones = [f"{spec}.{name}" for spec, options in specs().items() for name in options if secret.search(name)]
    hidden = [f"{spec}.{name}" for spec, options in specs().items() for name, o in options.items() if o.get("no_log")]
    assert sorted(open_ones) == sorted(hidden)
