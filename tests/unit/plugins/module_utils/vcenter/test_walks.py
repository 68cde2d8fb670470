"""No walk through vCenter's inventory goes round in a circle: no server is sure to notice."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

PLUGINS = Path(__file__).parents[5] / "plugins"
# What a step leads to (vSphere API reference). Folders are trees, downwards and upwards.
LEADS_TO = {
    "runtime.host": ("HostSystem",),
    "host": ("HostSystem",),
    "vm": ("VirtualMachine",),
    "network": ("Network", "DistributedVirtualPortgroup"),
    "datastore": ("Datastore",),
    "resourcePool": ("VirtualApp",),
    "config.distributedVirtualSwitch": ("DistributedVirtualSwitch",),
    "hostFolder": ("ComputeResource",),
    "vmFolder": ("VirtualMachine", "VirtualApp"),
    "networkFolder": ("Network", "DistributedVirtualSwitch"),
    "datastoreFolder": ("Datastore",),
    "childEntity": ("Datacenter", "ComputeResource", "VirtualMachine", "VirtualApp", "DistributedVirtualSwitch"),
}
ABOVE = {
    "HostSystem": ("ComputeResource",),
    "ComputeResource": ("Datacenter",),
    "Datacenter": (),
    "Folder": ("Datacenter",),
    "VirtualMachine": ("Datacenter",),
    "DistributedVirtualSwitch": ("Datacenter",),
}

PAIR = re.compile(rf"""["'][A-Z]\w*["'],\s*["'](?:{"|".join(map(re.escape, (*LEADS_TO, "parent")))})["']""")


def walks():
    """{file: every step that it names}, as if all of them were one walk."""
    found = {}
    for path in sorted(PLUGINS.rglob("*.py")):
        steps = set()
        text = path.read_text()
        # Most files name none, and to parse them all takes seconds.
        if not PAIR.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            pair = node.elts if isinstance(node, ast.Tuple) else ()
            texts = [one.value for one in pair if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if (
                len(pair) == len(texts) == 2
                and hasattr(vim, texts[0])
                and (texts[1] in LEADS_TO or texts[1] == "parent")
            ):
                steps.add(tuple(texts))
        if steps:
            found[str(path.relative_to(PLUGINS))] = sorted(steps)
    return found


def circle(walk, followed):
    graph = {}
    for kind, path in walk:
        to = ABOVE.get(kind, ()) if path == "parent" else LEADS_TO[path]
        # A vApp in a vApp is a tree too.
        graph[(kind, path)] = {step for step in followed((kind, path), walk) if step[0] in to and step != (kind, path)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


WALKS = walks()


def test_there_are_walks():
    assert ("ComputeResource", "host") in WALKS["module_utils/vm/fleet.py"]
    assert len(WALKS) > 8


@pytest.mark.parametrize("name", WALKS)
def test_no_walk_has_a_circle(name):
    assert circle(WALKS[name], properties.followed) == []


def test_the_test_finds_the_circle_of_hosts_and_clusters():
    assert circle([("HostSystem", "parent"), ("ComputeResource", "host")], lambda _step, walk: walk) != []


def test_the_request_for_hosts_with_their_cluster_has_no_way_back():
    walk = [("VirtualMachine", "runtime.host"), ("HostSystem", "parent"), ("ComputeResource", "host")]
    spec = properties._filter_spec({"HostSystem": ["name"]}, [vim.VirtualMachine("vm-1")], walk)
    steps = {step.name: [one.name for one in step.selectSet] for step in spec.objectSet[0].selectSet}
    assert "HostSystem.parent" not in steps["ComputeResource.host"]
    assert "ComputeResource.host" in steps["HostSystem.parent"]
