# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import datetime

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.privileges import state
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from pyVmomi import vim

NINE = datetime.datetime(2026, 1, 5, 9, 0, 0, tzinfo=datetime.timezone.utc)
NOW = NINE.timestamp()


@pytest.mark.parametrize(
    "ahead_s, took_s, reported",
    [
        pytest.param(0.5, 1, (0.0, 1.0), id="within the time of the question"),
        pytest.param(31, 1, (30.0, 1.0), id="ahead at least"),
        pytest.param(-30, 1, (-30.0, 1.0), id="behind at least"),
        pytest.param(5, 20, (0.0, 20.0), id="a slow question hides a small difference"),
    ],
)
def test_a_difference_of_clocks_is_what_the_way_cannot_explain(ahead_s, took_s, reported):
    theirs = NINE + datetime.timedelta(seconds=ahead_s)
    assert state.skew(theirs, NOW, NOW + took_s) == reported
    assert state.skew(theirs.replace(tzinfo=None), NOW, NOW + took_s) == reported


def row(kind, moid, name, above=None, **more):
    return Row(kind(moid), {"name": name, "parent": above.ref if above is not None else None, **more}, {})


ROOT = row(vim.Folder, "group-d1", "Datacenters")
ONE = row(vim.Datacenter, "datacenter-1", "one", ROOT, vmFolder=vim.Folder("group-v1"))
TWO = row(vim.Datacenter, "datacenter-2", "two", ROOT, vmFolder=vim.Folder("group-v2"))
VMS = row(vim.Folder, "group-v1", "vm", ONE)
TRAINING = row(vim.Folder, "group-v3", "training", VMS)
HOSTS_ONE, HOSTS_TWO = row(vim.Folder, "group-h1", "host", ONE), row(vim.Folder, "group-h2", "host", TWO)
GPU_ONE = row(vim.ClusterComputeResource, "domain-c1", "gpu", HOSTS_ONE)
GPU_TWO = row(vim.ClusterComputeResource, "domain-c2", "gpu", HOSTS_TWO)
ESX_ONE = row(vim.HostSystem, "host-1", "esx-01", GPU_ONE, datastore=[vim.Datastore("datastore-1")])
ESX_TWO = row(vim.HostSystem, "host-2", "esx-02", GPU_TWO, datastore=[])
STORE = row(vim.Datastore, "datastore-1", "ds%2f1", row(vim.Folder, "group-s1", "datastore", ONE))
ROWS = [ROOT, ONE, TWO, VMS, TRAINING, HOSTS_ONE, HOSTS_TWO, GPU_ONE, GPU_TWO, ESX_ONE, ESX_TWO, STORE]


@pytest.mark.parametrize(
    "where, requested, meant",
    [
        pytest.param({}, ("vcenter",), ["group-d1"], id="vCenter"),
        pytest.param({}, ("host",), ["host-1", "host-2"], id="all hosts"),
        pytest.param({"hosts": ["ESX-02"]}, ("host",), ["host-2"], id="the hosts that were named"),
        pytest.param({"hosts": ["esx-02"]}, ("cluster",), ["domain-c2"], id="their cluster"),
        pytest.param({"hosts": ["esx-01"]}, ("folder",), ["group-v1"], id="their folder of VMs"),
        pytest.param({}, ("cluster", "gpu"), ["domain-c1", "domain-c2"], id="one name twice"),
        pytest.param({"datacenter": "/two"}, ("cluster", "gpu"), ["domain-c2"], id="in a datacenter"),
        pytest.param({}, ("folder", "training"), ["group-v3"], id="folder by its name"),
        pytest.param({}, ("folder", "vm/training"), ["group-v3"], id="folder by the end of its path"),
        pytest.param({"hosts": ["esx-01"]}, ("folder", "training/new"), ["group-v1"], id="folder that will be made"),
        pytest.param({}, ("datastore", "ds/1"), ["datastore-1"], id="escaped name"),
        pytest.param({}, ("vm", "ubuntu"), [], id="what is not there"),
    ],
)
def test_a_request_stands_for_these_objects(where, requested, meant):
    there = state.Inventory(ROWS, ROOT.ref, where.get("datacenter"), where.get("hosts", ()))
    assert [ref._GetMoId() for ref in there.meant(*requested)] == meant


def test_hosts_that_nobody_knows_are_reported():
    assert state.Inventory(ROWS, ROOT.ref, None, ["esx-01", "esx-03"]).strangers == ["esx-03"]


def test_datastores_are_those_of_the_hosts():
    there = state.Inventory(ROWS, ROOT.ref, None, ["esx-01"])
    assert [state.name_of(one) for one in there.datastores()] == ["ds/1"]
    assert state.Inventory(ROWS, ROOT.ref, None, ["esx-02"]).datastores() == []
