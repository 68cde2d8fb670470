# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Modules on guests from the arguments of Ansible to their answer. Tests over the wire do the same for the others."""

from __future__ import annotations

import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import documented
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

from unit.plugins.module_utils.guest.network.world import MAC, Guest
from unit.plugins.module_utils.training.samples import read
from unit.plugins.modules.test_horovod_build_info import ALL as BUILT
from wire.drive import load, run

MODULES = (
    "container_engine",
    "container_registry_login",
    "guest_health_info",
    "guest_interface",
    "guest_rdma_info",
    "guest_roce",
    "nvidia_container_runtime",
)
HERE = machine.name()
LOGIN = {"registry": "images.example.com", "state": "absent", "config_file": "/srv/auth.json"}


@pytest.fixture(autouse=True)
def guest(tmp_path, monkeypatch):
    """A guest with an adapter and without any service, in the place of the machine of the tests."""
    made = Guest(tmp_path)
    for name in MODULES:
        module = load(f"aiready.vsphere.{name}")
        for word, world in (("Commands", made), ("Files", Files(str(tmp_path)))):
            if hasattr(module, word):
                monkeypatch.setattr(module, word, lambda world=world: world)
    horovodrun = tmp_path / "horovodrun"
    horovodrun.write_text(f"#!/bin/sh\ncat <<'END'\n{read('check_build')}\nEND\n")
    horovodrun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return made


NEVER_READ = {"changed": False, "before": {}, "after": {}, "changes": [], "pending": [], "failed": True}
NO_RDMA = documented("no_rdma", subject="Adapter ens224", interface="ens224")
ANSWERS = {
    "container_engine": (
        {"engine": "docker"},
        {
            "engine": {"name": HERE, "machine_id": None, **NEVER_READ},
            "failure": documented("engine_missing", subject=f"docker on {HERE}"),
        },
    ),
    "container_registry_login": (
        LOGIN,
        {
            "login": {
                "name": HERE,
                "machine_id": None,
                "registry": "images.example.com",
                "path": "/srv/auth.json",
                "checked": "no",
                "changed": False,
                "changes": [],
                "pending": [],
                "failed": False,
                "failure": {},
                **dict.fromkeys(("before", "after"), {"username": "", "password": "", "mode": ""}),
            },
        },
    ),
    "guest_health_info": (
        {"name": "job-01", "checks": ["guest.mtu"], "mac": MAC},
        {
            "measurements": [
                {
                    "check": "guest.mtu",
                    "subject": {"guest": "job-01"},
                    "command": [],
                    "version": "",
                    "status": "failed",
                    "readings": {},
                    "evidence": "",
                    "simulated": False,
                    "variant": "",
                    "why": f"No adapter has the MAC address {MAC} of the data path.",
                }
            ],
            "outputs": {"guest.mtu": ""},
        },
    ),
    "guest_interface": (
        {"mac": MAC, "mtu": 9000},
        {
            "interface": {"name": MAC, "mac": MAC, "reached": [], **NEVER_READ},
            "failure": documented("no_network_service", subject="Adapter ens224"),
        },
    ),
    "guest_rdma_info": (
        {},
        {
            "rdma": {
                **dict.fromkeys(("devices", "modules", "providers", "outdated"), []),
                "connection_manager": False,
                "ofed": None,
                "memlock": None,
                "numa": {"nodes": [], "gpus": []},
                "gpudirect": {"peermem": None, "peermem_version": None, "open_module": None, "kernel_dmabuf": True},
            }
        },
    ),
    "guest_roce": (
        {"mac": MAC, "data_path": "sriov", "config": {"dscp": 26}},
        {"roce": {"name": MAC, "mac": MAC, "device": None, **NEVER_READ}, "failure": NO_RDMA},
    ),
    "horovod_build_info": ({"timeout_s": 20}, {"build": BUILT}),
    "nvidia_container_runtime": (
        {"engine": "docker"},
        {
            "engine": {
                "name": HERE,
                "machine_id": None,
                "toolkit_version": None,
                "engine_version": None,
                **NEVER_READ,
            },
            "failure": documented("toolkit_missing", subject=f"docker on {HERE}"),
        },
    ),
    "surroundings_info": ({}, {"addresses": [], "registries": [], "disks": []}),
}
# What nobody can know beforehand, and the words of messages.
UNFORESEEN = ("invocation", "time", "msg", "began", "seconds")


def answer(name, given, check=True):
    return run(f"aiready.vsphere.{name}", given, check)


def known(value):
    if isinstance(value, dict):
        return {key: known(one) for key, one in value.items() if key not in UNFORESEEN}
    return [known(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("check", [True, False], ids=["check mode", "real"])
@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_module_answers_ansible_with_and_without_check_mode(name, check):
    given, reported = ANSWERS[name]
    failure = {"failure": reported["failure"], "failed": True} if "failure" in reported else {"failed": False}
    for key, entry in reported.items():
        if isinstance(entry, dict) and "before" in entry:
            reported = {**reported, key: {**entry, "failure": reported.get("failure", {})}, "diff": []}
    assert known(answer(name, given, check)) == {**reported, **failure, "changed": False}


@pytest.mark.parametrize(
    "name, given, problem",
    [
        (
            "container_engine",
            {"proxy": {"http": "p.example"}},
            "`proxy.http`: it is not a URL such as http://proxy.example.com:3128. Set credentials with "
            "`username` and `password`.",
        ),
        (
            "container_registry_login",
            {"registry": "https://r.example/x", "username": "u", "password": "secret"},
            "`registry`: https://r.example/x is not a host name with an optional port. Remove https:// and paths.",
        ),
        (
            "guest_baseline",
            {"state": "begun", "stages": ["guests", "runtime"]},
            "`stages` names several stages. Record one stage at a time.",
        ),
        ("guest_health_info", {"name": "job-01", "address": "x"}, "address: x is not an IPv4 address."),
        ("guest_interface", {"mac": MAC, "mtu": 1}, "mtu: 1 is not a valid MTU. Use a number from 576 to 65535."),
        ("guest_rdma_info", {"user": " "}, "user: it is empty. Name a user, or leave it out."),
        (
            "guest_roce",
            {"mac": "zz", "data_path": "sriov", "config": {}},
            "mac: zz is not a MAC address. Write it as 00:50:56:12:34:56.",
        ),
        ("nvidia_container_runtime", {"engine": "docker", "config": "x"}, "`config`: x is not an absolute path."),
        ("surroundings_info", {"timeout_s": 301}, "timeout_s is 301; it must be between 1 and 300."),
        (
            "validation_result",
            {"result_dir": "/nonexistent", "intent": {}},
            "intent: guests is missing. Name at least one guest.",
        ),
        (
            "vgpu_guest_driver",
            {"package": " "},
            "`package` is empty. Set it to a file on the guest, a URL or a package of a repository.",
        ),
        ("vgpu_licence", {"wait_s": -1}, "`wait_s` is negative. Use seconds, 0 or more."),
    ],
)
def test_invalid_parameters_are_refused_before_anything_is_read(name, given, problem):
    reported = answer(name, given)
    assert (reported["failed"], reported["msg"]) == (True, problem)
    assert reported["failure"] == documented("invalid_parameters", problems=[problem])


@pytest.mark.parametrize(
    "name, given, said",
    [
        ("guest_interface", {}, "one of the following is required: mac, name"),
        ("guest_interface", {"mac": MAC, "name": "ens224"}, "parameters are mutually exclusive: mac|name"),
        ("guest_roce", {"data_path": "sriov", "config": {}}, "one of the following is required: mac, name"),
        (
            "guest_roce",
            {"data_path": "sriov", "config": {}, "mac": MAC, "name": "ens224"},
            "parameters are mutually exclusive: mac|name",
        ),
    ],
)
def test_adapter_is_named_in_exactly_one_way(name, given, said):
    assert answer(name, given)["msg"] == said
