from __future__ import annotations

from pyVmomi import vim

from ..contract import Row
from ..lab import datacenter, lab
from ..observe import client

NAMES = [f"train-{number:02}" for number in range(1, 6)]


def world(drs="manual", vms=3, **more):
    """A cluster of three hosts, all VMs on the first one."""
    seed = lab(*[{}] * vms, others=[{"name": "esx-02"}, {"name": "esx-03"}], **more)
    seed["datacenters"][0]["clusters"][0]["drs"] = drs
    return seed


def drs(twin):
    """The rules and overrides of the cluster, reported by a plain client."""
    with client(twin) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.ClusterComputeResource], True)
        config = view.view[0].configurationEx
        rules = {
            rule.name: (type(rule).__name__.rpartition(".")[2], sorted(vm.name for vm in rule.vm), rule.mandatory)
            for rule in config.rule
        }
        levels = {entry.key.name: (entry.enabled, entry.behavior) for entry in config.drsVmConfig}
        return {"rules": rules, "levels": levels}


APART = "vim.cluster.AntiAffinityRuleSpec".rpartition(".")[2]


def state(rules=(), levels=()):
    return {"rules": dict(rules), "levels": dict(levels)}


CALL = {"cluster": "gpu", "name": "apart"}

ROWS = [
    Row(
        module="drs_placement",
        name="a rule, another VM and a level for all, and nothing again",
        seed=world(),
        create={**CALL, "vms": NAMES[:2]},
        modify={**CALL, "vms": NAMES[:3], "mandatory": False, "automation": "partially_automated"},
        delete={**CALL, "state": "absent"},
        observe=drs,
        created=state({"apart": (APART, NAMES[:2], True)}),
        modified=state({"apart": (APART, NAMES[:3], False)}, dict.fromkeys(NAMES[:3], (True, "partiallyAutomated"))),
        deleted=state(),
    ),
    Row(
        module="drs_placement",
        name="levels without a rule",
        seed=world(drs="fullyAutomated"),
        create={"cluster": "gpu", "vms": NAMES[:2], "anti_affinity": False, "automation": "disabled"},
        modify={"cluster": "gpu", "vms": NAMES[:2], "anti_affinity": False, "automation": "manual"},
        delete={"cluster": "gpu", "vms": NAMES[:2], "anti_affinity": False, "automation": "cluster"},
        observe=drs,
        created=state(levels=dict.fromkeys(NAMES[:2], (False, None))),
        modified=state(levels=dict.fromkeys(NAMES[:2], (True, "manual"))),
        deleted=state(),
    ),
]

EXAMPLES_SEED = {
    **lab(),
    "datacenters": [datacenter("dc1", [{"name": "esx-01"}, {"name": "esx-02"}], [{}] * 5)],
}
EXAMPLES_SEED["datacenters"][0]["clusters"][0]["drs"] = "manual"
