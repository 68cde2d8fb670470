"""esxcli as a program: options, errors and exit codes."""

from __future__ import annotations

import pytest


def test_options_are_taken_in_all_their_spellings(cli):
    here = cli()
    for words in (
        ("-o", "atsSupport"),
        ("-oatsSupport",),
        ("--option", "atsSupport"),
        ("--option=atsSupport",),
        ("-o=atsSupport",),
    ):
        text, rc = here.run("system", "settings", "kernel", "list", *words)
        assert rc == 0
        assert text.splitlines()[2].split()[:5] == ["atsSupport", "Bool", "FALSE", "FALSE", "FALSE"]


@pytest.mark.parametrize(
    "line,text",
    [
        ("frob", "Unknown command or namespace frob"),
        ("network nic get", "Missing required parameter --nic-name|-n"),
        ("hardware pci pcipassthru set --device 0000:17:00.0", "Invalid option --device"),
        ("software vib list --rebooting-image=true", "Invalid option --rebooting-image=true"),
        ("system settings kernel set -s", "Missing value for option -s"),
        ("--formatter=yaml system version get", "Unknown formatter yaml"),
        ("--frob system version get", "Invalid option --frob"),
        ("network nic get -n vmnic9", "vmnic9"),
        ("system module get -m frob", "frob"),
        ("software vib remove -n frob", "[NoMatchError]"),
        ("graphics host set --default-type Frob", "Invalid data constraint"),
    ],
)
def test_what_cannot_be_done_is_reported_with_exit_code_1(cli, line, text):
    printed, rc = cli().run(*line.split())
    assert rc == 1
    assert text in printed


def test_an_en_dash_from_a_web_page_is_no_option(cli):
    here = cli()
    assert here.run("system", "maintenanceMode", "set", "–-enable", "true")[1] == 1
    assert not here.host.maintenance


def test_namespaces_list_what_is_below_them(cli):
    text, rc = cli().run("software", "vib")
    assert rc == 1
    assert [line.strip() for line in text.splitlines()[1:]] == ["get", "install", "list", "remove", "update"]


def test_help_names_the_options(cli):
    text = cli().text("network nic get --help")
    assert text.startswith("Usage: esxcli network nic get [cmd options]")
    assert "--nic-name|-n=<string>" in text


def test_commands_that_act_print_nothing(cli):
    assert cli().text("system settings kernel set -s atsSupport -v TRUE") == ""
