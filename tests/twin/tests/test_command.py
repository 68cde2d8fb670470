"""The command: what it prints of seeds and faults, and how it ends."""

from __future__ import annotations

import re

import pytest

from vsphere_twin import __main__ as command
from vsphere_twin import control


def said(capsys, *arguments):
    """(status, output, errors) of the command."""
    status = command.main(list(arguments))
    return status, *capsys.readouterr()


def test_seeds_are_listed_with_what_they_hold(capsys):
    status, text, _errors = said(capsys, "seeds")
    assert status == 0
    assert [line.split()[0] for line in text.splitlines()] == [
        "factory",
        "factory-9.1",
        "large",
        "small",
        "small-9.0",
        "small-9.1",
    ]
    assert "small        Two hosts with an A100 each" in text


def test_a_seed_without_mistakes_is_counted(capsys):
    assert said(capsys, "check", "small") == (
        0,
        "small can be served: 2 hosts, 2 VMs, 1 templates, 2 GPUs, 6 switches.\n",
        "",
    )


def test_mistakes_of_a_seed_are_errors_with_their_lines(capsys, tmp_path):
    file = tmp_path / "lab.yml"
    file.write_text("users: {u: p}\ndatacenters:\n  - name: dc\n    vm: []\n  - names: other\n")
    status, text, errors = said(capsys, "check", str(file))
    assert (status, text) == (1, "")
    assert [line.split(" ")[0] for line in errors.splitlines()] == [
        f"{file}:4:",
        f"{file}:5:",
        f"{file}:5:",
    ]


def test_every_verb_of_the_control_api_is_listed_with_its_arguments(capsys):
    status, text, _errors = said(capsys, "faults")
    assert status == 0
    assert sorted(re.findall(r"(?m)^    ([a-z_]+)\(.*\)$", text.partition("\n\n")[2])) == sorted(control.ALL)
    assert "    fail_command(prefix, host=None, rc=1, text='', count=1, after=False)\n        The next commands" in text
    assert not re.search(r"(?m)^        $", text)


def test_what_it_does_not_know_is_refused_with_what_it_knows(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["start"])
    assert ended.value.code == 2
    assert "serve" in capsys.readouterr().err
