"""Credentials, control characters and endless parts of a site are refused, and never shown."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

CANARY = "Kanarienvogel7"
SITE = {
    "vcenter": {"hostname": "vcenter.example.org", "username": "automation@vsphere.local"},
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "cluster": "training",
    "machine": {"template": "ubuntu", "cpus": 8, "memory_gb": 64},
    "vms": [{"name": "train-01"}],
}
OF_ADDRESSES = {
    "vcenter.hostname": ("https://u:{}@vc.example.org", "u:{}@vc.example.org", "u:{}/x@vc.example.org:443"),
    "driver.url": ("https://u:{}@depot/NVD.zip", "https://{}@depot/NVD.zip", "https://depot/NVD.zip?token={}"),
    "guests.driver.package": ("https://u:{}@depot/grid.deb", "https://depot/grid.deb?x=1&X-Amz-Signature={}"),
    "runtime.vendor_repository.url": ("https://u:{}@mirror/docker", "u:{}@mirror"),
    "runtime.vendor_repository.key_url": ("https://u:{}@mirror/key.gpg",),
    "runtime.toolkit_repository.url": ("https://u:{}@mirror/nvidia",),
    "runtime.proxy.http": ("http://u:{}@proxy:3128", "u:{}@proxy:3128", "http://u:{}/x@proxy:3128"),
    "runtime.proxy.https": ("u:{}@proxy:3128",),
    "runtime.registries[0].address": ("u:{}@registry:5000", "https://u:{}@registry"),
    "runtime.proof_image": ("u:{}@registry/cuda:12",),
    "training.image": ("u:{}@registry/horovod:1", "https://u:{}@registry/horovod:1"),
    "training.arguments[0]": ("--data=https://u:{}@store/data",),
    "guests.ntp_servers[0]": ("u:{}@ntp",),
    "network.portgroup": ("https://u:{}@x",),
}
NEEDED = {
    "runtime.vendor_repository.url": {"source": "vendor"},
    "runtime.vendor_repository.key_url": {"source": "vendor"},
    "training.image": {"builtin": "small"},
    "training.arguments[0]": {"builtin": "small", "image": "images.example.org/horovod:1"},
}


def changed(path, value, more=None):
    """The site with one value at a path such as runtime.registries[0].address; more goes beside its first part."""
    made = copy.deepcopy(SITE)
    names = path.replace("[0]", ".0").split(".")
    if more:
        made.setdefault(names[0], {}).update(more)
    part = made
    for name, following in zip(names, names[1:], strict=False):
        if isinstance(part, list):
            part.append({})
            part = part[0]
        else:
            part = part.setdefault(name, [] if following == "0" else {})
    if isinstance(part, list):
        part.append(value)
    else:
        part[names[-1]] = value
    return made


ADDRESSES = [(path, form) for path, forms in OF_ADDRESSES.items() for form in forms]


@pytest.mark.parametrize("path, form", ADDRESSES, ids=[f"{path}-{form}" for path, form in ADDRESSES])
def test_credentials_in_an_address_are_refused_and_not_shown(path, form):
    site = changed(path, form.format(CANARY), NEEDED.get(path))
    reported = problems(site)
    assert [one for one in reported if CANARY in one] == []
    assert [one for one in reported if one.startswith(f"site.{path}: ") and "credentials" in one] != []
    assert len(reported) == 1
    assert CANARY not in str(questions.questions(site))


@pytest.mark.parametrize(
    "path, value",
    [
        ("machine.metadata.password", CANARY),
        ("machine.metadata.users[0]", {"name": "ops", "hashed_passwd": CANARY}),
        ("machine.metadata.chpasswd", {"list": [f"root:{CANARY}"]}),
        ("machine.metadata.api_token", CANARY),
        ("bios.attributes.SetupPassword", CANARY),
        ("bios.attributes.SysPassword", 17171717),
        ("machine.metadata.key", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n"),
    ],
)
def test_secrets_in_parts_without_fixed_keys_are_refused_and_not_shown(path, value):
    (reported,) = problems(changed(path, value))
    assert reported.startswith(f"site.{path.partition('[')[0]}")
    assert CANARY not in reported
    assert "17171717" not in reported


@pytest.mark.parametrize(
    "path, value",
    [
        ("machine.metadata.lock_passwd", True),
        ("machine.metadata.ssh_pwauth", False),
        ("bios.attributes.PasswordStatus", "Unlocked"),
        ("bios.attributes.SetupPassword", ""),
        ("training.image", "images.example.com:8443/horovod:1@sha256:" + "a" * 64),
        ("training.image", "horovod:1@sha256:" + "a" * 64),
        ("training.image", "images.example.com:8443/a/horovod@sha256:" + "a" * 64),
        ("runtime.proof_image", "horovod@sha256:" + "a" * 64),
        ("driver.url", "https://depot.example.org:8443/a@2/NVD.zip?version=1"),
        ("vcenter.username", "automation@vsphere.local"),
        ("training.arguments[0]", "--tokenizer=bert"),
        ("machine.metadata.script", "#!/bin/sh\n\ttrue\n"),
        ("training.arguments[0]", "first\nsecond"),
    ],
)
def test_what_only_looks_like_it_is_accepted(path, value):
    more = {"builtin": "small", "image": "images.example.org/h:1"} if path.startswith("training.") else {}
    more.pop(path.rpartition(".")[2], None)
    assert problems(changed(path, value, more)) == []


@pytest.mark.parametrize(
    "path",
    ["vcenter.hostname", "cluster", "driver.url", "guests.ntp_servers[0]", "runtime.toolkit_repository.url", "power"],
)
@pytest.mark.parametrize("mark", ["\n", "\r", "\x00", "\x1b]0;x\x07", "\x9b31m", "\u202e", "\u2028"])
def test_control_characters_are_refused_and_not_shown(path, mark):
    (reported,) = problems(changed(path, f"a{mark}b"))
    assert reported == f"site.{path}: it contains a line break or another control character. Write it as one line."


def test_a_script_takes_line_breaks_and_no_escape():
    (reported,) = problems(changed("machine.metadata.script", "a\n\x1b[2J"))
    assert reported.startswith("site.machine.metadata.script: it contains a line break or another control character.")


def test_a_long_text_is_refused_and_not_shown():
    (reported,) = problems(changed("cluster", "x" * 5000))
    assert reported == "site.cluster: it has 5000 characters, and 4096 is the limit. Shorten it."
