"""Keys and addresses that a hostile guest reports reach no file of another guest."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.peer_keys import peer_keys


def blob(kind, rest=b"\0\0\0\x20" + b"k" * 32):
    return base64.b64encode(len(kind).to_bytes(4, "big") + kind.encode() + rest).decode()


ED, RSA, EC = (blob(kind) for kind in ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256"))
PEERS = [{"name": "job-01", "addresses": ["10.0.0.11", "192.0.2.11"]}, {"name": "job-02", "addresses": ["fd00::12"]}]


def reported(key=f"ssh-ed25519 {ED} trainer@job", **facts):
    facts = facts or {"ssh_host_key_ed25519_public_keytype": "ssh-ed25519", "ssh_host_key_ed25519_public": ED}
    return {"__guest_vm_user_now": {"ssh_public_key": key}, "ansible_facts": facts}


def keys(peers=(), **changed):
    return peer_keys(peers or PEERS, {"job-01": reported(), "job-02": reported(), **changed})


def test_good_keys_become_lines_with_the_addresses_of_their_guest():
    assert keys() == {
        "authorized": [
            f'from="10.0.0.11,192.0.2.11" ssh-ed25519 {ED} job-01',
            f'from="fd00::12" ssh-ed25519 {ED} job-02',
        ],
        "known": [f"job-01,10.0.0.11,192.0.2.11 ssh-ed25519 {ED}", f"job-02,fd00::12 ssh-ed25519 {ED}"],
        "missing": [],
        "problems": [],
    }


@pytest.mark.parametrize(
    "key",
    [
        f"ssh-ed25519 {ED}\nssh-ed25519 {RSA} attacker",
        f"ssh-ed25519 {ED} a\rssh-ed25519 {ED} b",
        f"ssh-ed25519 {ED} a\u2028ssh-ed25519 {ED} b",
        f"ssh-ed25519 {ED} \x1b]0;title\x07",
        f'command="id" ssh-ed25519 {ED}',
        f"ssh-dss {blob('ssh-dss')}",
        "ssh-ed25519",
        "ssh-ed25519 not-base64!",
        f"ssh-ed25519 {RSA}",
        f"ssh-ed25519 {blob('ssh-ed25519', b'')}",
        f"ssh-ed25519 {ED[:-4]}=*=",
        f"# ssh-ed25519 {ED}",
        ["ssh-ed25519", ED],
        {"ssh-ed25519": ED},
    ],
)
def test_what_is_no_single_key_is_refused_and_stays_out_of_both_files(key):
    found = keys(**{"job-02": reported(key)})
    assert [line for line in found["authorized"] if "job-02" in line] == []
    assert [line for line in found["known"] if "job-02" in line] == []
    assert len(found["problems"]) == 1
    assert found["problems"][0].startswith("Cannot give the SSH keys of job-02 to the other guests.")


@pytest.mark.parametrize(
    "facts",
    [
        {"ssh_host_key_rsa_public": f"{RSA}\njob-01 ssh-rsa {RSA}", "ssh_host_key_rsa_public_keytype": "ssh-rsa"},
        {"ssh_host_key_rsa_public": RSA, "ssh_host_key_rsa_public_keytype": "ssh-rsa\n@cert-authority *"},
        {"ssh_host_key_ecdsa_public": RSA, "ssh_host_key_ecdsa_public_keytype": "ecdsa-sha2-nistp256"},
        {"ssh_host_key_rsa_public": RSA},
    ],
)
def test_host_keys_are_held_to_the_same(facts):
    found = keys(**{"job-02": reported(**facts)})
    assert ([line for line in found["known"] if "job-02" in line], len(found["problems"])) == ([], 1)


def test_every_host_key_of_a_guest_is_known():
    facts = {f"ssh_host_key_{kind}_public": one for kind, one in (("ecdsa", EC), ("rsa", RSA))}
    facts |= {"ssh_host_key_ecdsa_public_keytype": "ecdsa-sha2-nistp256", "ssh_host_key_rsa_public_keytype": "ssh-rsa"}
    known = keys([PEERS[0]], **{"job-01": reported(**facts)})["known"]
    assert [line.split()[1:] for line in known] == [["ecdsa-sha2-nistp256", EC], ["ssh-rsa", RSA]]


@pytest.mark.parametrize(
    "address", ["fe80::1%-oProxyCommand=id", "10.0.0.1 evil", "10.0.0.1,*", "*", "job-03", "", None, '10.0.0.1" x="']
)
def test_an_address_is_an_address(address):
    found = keys([PEERS[0], {"name": "job-02", "addresses": ["10.0.0.12", address]}])
    assert (len(found["authorized"]), len(found["known"]), len(found["problems"])) == (1, 1, 1)


@pytest.mark.parametrize("name", ["*", "job,*", "job 02", "@cert-authority", "!job", "#job", "[job]:22"])
def test_a_name_that_known_hosts_would_read_as_syntax_is_left_out(name):
    found = keys([{"name": name, "addresses": ["10.0.0.12"]}], **{name: reported()})
    assert found["known"] == [f"10.0.0.12 ssh-ed25519 {ED}"]
    assert found["authorized"] == [f'from="10.0.0.12" ssh-ed25519 {ED}']


def test_a_guest_without_a_key_yet_is_missing_and_no_problem():
    found = keys(**{"job-02": {"ansible_facts": {}}})
    assert (found["missing"], found["problems"], len(found["authorized"])) == (["job-02"], [], 1)
    assert peer_keys([PEERS[0]], {})["missing"] == ["job-01"]
