"""An option of a role that is a key of the site has its type, choices, default and text."""

from __future__ import annotations

import pytest

from house import role_options
from house.collection import ROOT, load, parsed, roles
from house.handover import from_site, receivers

VERSIONS = (*load("changelogs/changelog.yaml")["releases"], load("galaxy.yml")["version"])
SPEC = """\
      switch_save:
        type: str
        choices: [now]
        default: now
        version_added: 0.2.0
        description:
          - Old.
      switch_verify_timeout_s:
        type: int
"""


@pytest.mark.parametrize("role", receivers())
def test_options_are_what_the_site_says(role):
    assert role_options.differences(role) == [], "run: python -m house.role_options --write"


@pytest.mark.parametrize("role", receivers())
def test_most_options_of_a_role_are_compared(role):
    assert len(role_options.keys(role)) > 1
    assert set(role_options.keys(role)) <= set(from_site(role))


@pytest.mark.parametrize("role", receivers())
def test_a_text_names_options_of_the_role_and_no_key_that_it_does_not_have(role):
    text = [line for want in role_options.wanted(role).values() for line in want.get("description", ())]
    assert [line for line in text if "O(site" in line] == []


def test_exceptions_are_options_that_would_differ():
    options = {name: (role, name) for role in receivers() for name in from_site(role)}
    listed = role_options.OWN_TEXT | role_options.OWN_DEFAULT | role_options.WORKED_OUT | set(role_options.NAMED)
    assert listed - set(options) == set()
    for exceptions, kind in (("OWN_TEXT", "description"), ("OWN_DEFAULT", "default")):
        own = getattr(role_options, exceptions)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(role_options, exceptions, set())
            found = [line for role in receivers() for line in role_options.differences(role)]
        assert {line.split(":")[0] for line in found if f": {kind} is" in line} == own


def test_an_option_is_written_with_what_else_it_has(monkeypatch):
    want = {"type": "str", "choices": ["never", "off"], "default": "", "description": ["A: b. " + "word " * 30]}
    monkeypatch.setattr(role_options, "wanted", lambda role: {"switch_save": want})
    monkeypatch.setattr(role_options, "options_of", lambda role: parsed(SPEC))
    option = parsed(role_options.written(SPEC, "switch"))
    assert list(option) == ["switch_save", "switch_verify_timeout_s"]
    assert {**option["switch_save"], "description": [" ".join(option["switch_save"]["description"][0].split())]} == {
        **want,
        "version_added": "0.2.0",
        "description": [" ".join(want["description"][0].split())],
    }


def test_writing_again_changes_nothing():
    for role in set(receivers()) & set(roles()):
        text = (ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text()
        assert role_options.written(text, role) == text


def test_an_option_names_a_version_only_if_it_is_newer_than_its_role():
    def inside(options):
        for name, option in options.items():
            yield name, option.get("version_added")
            yield from inside(option.get("options", {}))

    for role in roles():
        for entry in load(f"roles/{role}/meta/argument_specs.yml")["argument_specs"].values():
            named = [(name, number) for name, number in inside(entry.get("options", {})) if number is not None]
            assert [one for one in named if one[1] == entry["version_added"] or one[1] not in VERSIONS] == [], role
