"""Whom a client takes for whom: the file of known hosts follows the names and addresses of guests."""

from __future__ import annotations

from types import SimpleNamespace

import asyncssh
import pytest

from vsphere_twin.guests.keys import HostKeys

FIRST, SECOND = "ssh-ed25519 AAAAfirst lab", "ssh-ed25519 AAAAsecond lab"


@pytest.fixture(name="keys")
def _keys(tmp_path):
    file, key = tmp_path / "known_hosts", tmp_path / "key"
    file.write_text("vcenter.lab ssh-ed25519 AAAAvcenter\n")
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(key)
    return HostKeys(SimpleNamespace(known_hosts_file=file, key_file=key)), file


def known(file):
    """{name: key}, and every name stands there once."""
    rows = [line.split(" ") for line in file.read_text().splitlines()]
    names = [name for row in rows for name in row[0].split(",")]
    assert len(names) == len(set(names))
    return {name: row[2] for row in rows for name in row[0].split(",")}


def test_what_is_not_of_guests_stays(keys):
    keys, file = keys
    keys.know("vm-1", ["job-01"], FIRST)
    keys.know("vm-1", [], FIRST)
    assert known(file) == {"vcenter.lab": "AAAAvcenter"}


def test_copies_of_a_template_share_its_name_for_a_while_and_keep_their_addresses(keys):
    keys, file = keys
    keys.know("vm-1", ["job-01", "template", "10.0.0.1"], FIRST)
    keys.know("vm-2", ["job-02", "template", "10.0.0.2"], SECOND)
    reported = known(file)
    assert (reported["job-01"], reported["10.0.0.1"]) == ("AAAAfirst", "AAAAfirst")
    assert (reported["job-02"], reported["10.0.0.2"]) == ("AAAAsecond", "AAAAsecond")


def test_an_address_that_moves_to_another_guest_answers_with_its_key(keys):
    keys, file = keys
    keys.know("vm-1", ["job-01", "10.0.0.1"], FIRST)
    keys.know("vm-2", ["job-02", "10.0.0.1"], SECOND)
    assert known(file)["10.0.0.1"] == "AAAAsecond"


def test_an_address_that_a_guest_gave_up_is_nobodys(keys):
    keys, file = keys
    keys.know("vm-1", ["job-01", "10.0.0.1"], FIRST)
    keys.know("vm-1", ["job-01", "10.0.0.9"], FIRST)
    assert "10.0.0.1" not in known(file)
