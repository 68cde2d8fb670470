# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""All that the stages get out of whole sites, as it was approved."""

from __future__ import annotations

import copy

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import (
    checks,
    guests,
    hosts,
    machines,
    runtime,
    specification,
    switches,
    training,
    validation,
)

from unit import approved
from unit.plugins.filter.mutants import sites
from unit.plugins.filter.seen_guests import PVRDMA, adapter, seen, vm
from unit.plugins.filter.test_site_training import facts

EXAMPLE, VGPUS, OTHER = sites()
CABLES = [
    {"host": "esx-01", "nic": "vmnic2", "switch": "leaf-01", "port": "Ethernet1"},
    {"host": "esx-02", "nic": "vmnic2", "switch": "leaf-01", "port": "Ethernet2"},
    {"switch": "leaf-01", "port": "Ethernet31", "peer": "spine-01", "peer_port": "Ethernet7"},
]
GPU = {"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": 2}
TRAINING = {"image": "images.example.com/team/horovod:0.28.1", "builtin": "small"}
CHANGES = {
    "as it is": {},
    "tcp": {"network": {"path": "tcp", "portgroup": "VM Network"}},
    "pvrdma": {"network": PVRDMA, "roce": {"priority": 4, "dscp": 34}},
    "sriov": {"network": {"path": "sriov", "nics": ["vmnic2", "vmnic3"], "portgroup": "pg", "vfs": 8}},
    "passthrough": {
        "gpu": {"mode": "passthrough", "per_vm": 4},
        "network": {"path": "passthrough", "nics": ["vmnic2"]},
    },
    "mig": {"gpu": {"mode": "vgpu", "profile": "grid_a100-3-20c", "per_vm": 2}},
    "several kinds": {
        "gpu": GPU,
        "vms": [
            {"prefix": "big-", "count": 2, "first": 3, "digits": 3, "cpus": 32, "memory_gb": 256},
            {"name": "alone", "profiles": ["grid_a100-20c"], "host": "esx-02"},
        ],
    },
    "cables": {"fabric": {"cables": CABLES, "serial": 2, "save": "never"}, "network": PVRDMA},
    "hosts": {"hosts": {"serial": 1, "reboot": "allow", "cold_cycle": "allow"}},
    "runtime": {
        "runtime": {
            "engine": "docker",
            "proxy": {"http": "http://proxy:3128", "no_proxy": ["10.0.0.0/8"]},
            "registries": [{"address": "images.example.com", "username": "puller", "ca_file": "/etc/ca.pem"}],
            "memlock": "ignore",
        },
        "guests": {"user": "ops"},
        "training": TRAINING,
    },
    "training": {"guests": {"user": "ops"}, "training": {**TRAINING, "slots": 2, "gpus": "none"}},
    "command": {"guests": {"user": "ops"}, "training": {"image": "a:1", "command": ["python3", "run.py"]}},
    "limits": {"guests": {"user": "ops", "limits": {"memlock": "as_is", "nofile": 0}}, "training": TRAINING},
    "validation": {
        "guests": {"user": "ops"},
        "training": TRAINING,
        "validation": {
            "checks": ["pair.ping_mtu", "pair.iperf3", "cluster.training"],
            "nodes": [1, 2],
            "thresholds": {"pair.iperf3": {"baseline": {"worse_percent": 95}}, "cluster.training": {"low": 0.5}},
            "notes": {"pair.iperf3": "shared machine"},
            "simulated": ["gpu", "network"],
        },
    },
}
SEEN = seen(
    vm(),
    vm("job-02", 2, adapters=[adapter(number=4, address="192.0.2.2")], gpus=0, profiles=[]),
)

HOST_PORTS = [
    {"name": f"esx-{number:02}", "ports": [{"name": "vmnic2", "rdma": "vmrdma0", "up": True, "speed": speed}]}
    for number, speed in ((1, 100), (2, 25))
]
AROUND = {"host_keys": False, "faults": []}


def variables(whole):
    """Of each guest, what the inventory and its facts say."""
    reported = guests.guests(whole, SEEN)["guests"]
    return [
        {"inventory_hostname": name, "aiready_guest": guest, "ansible_facts": facts(number)}
        for number, (name, guest) in enumerate(reported.items(), start=1)
    ]


def results(whole):
    """What each stage gets; a refusal counts by its code and place."""
    for name, ask in {
        "problems": lambda: checks.problems(whole),
        "connection": lambda: specification.connection(whole, "password"),
        "hosts": lambda: hosts.hosts(whole),
        "overridden": lambda: hosts.hosts(whole, {"driver": {"depot": "[ds] a.zip"}, "hosts": {"reboot": "refuse"}}),
        "bmc": lambda: hosts.bmc_connection(whole, "192.0.2.9", "password"),
        "machines": lambda: machines.machines(whole),
        "switches": lambda: switches.switches(whole, ["leaf-01", "spine-01"], {}),
        "switch problems": lambda: switches.switch_problems(whole, ["leaf-01"], {"leaf-01": {}}, ("esx-01",)),
        "guests": lambda: guests.guests(whole, SEEN),
        "planned guests": lambda: guests.guests(whole, None, ["job-01"], {}, "/tmp/token"),
        "runtime": lambda: runtime.runtime(whole, {"images.example.com": "secret"}, "proxy-secret"),
        "training": lambda: training.training(whole, variables(whole)),
        "validation": lambda: validation.validation(whole, variables(whole), HOST_PORTS, AROUND),
        "questions": lambda: questions.everything(whole, {"images.example.com": "secret"}, {}, {}, {}),
    }.items():
        try:
            yield name, ask()
        except (AnsibleFilterError, OperatorError) as refusal:
            yield name, {"refused": str(refusal).replace(",", " ,")}


CASES = [
    pytest.param({**whole, **parts}, whole, id=f"{title}: {change}")
    for title, whole in (("example", EXAMPLE), ("vgpus", VGPUS), ("other", OTHER))
    for change, parts in CHANGES.items()
]


@pytest.mark.parametrize("whole, base", CASES)
def test_stages_get_what_was_approved(whole, base, request, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ops")
    whole, before = copy.deepcopy(whole), copy.deepcopy(whole)
    found = dict(results(whole))
    assert whole == before
    name = request.node.callspec.id
    approved.check(__file__, name, found, None if name.endswith(": as it is") else dict(results(copy.deepcopy(base))))
