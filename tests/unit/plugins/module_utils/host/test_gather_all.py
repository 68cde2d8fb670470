"""Several hosts are read at the same time, and a failure of one host is a failure of this host only."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import gather
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from pyVmomi import vim

ABSENT = OperatorError("Host esx-99", "cannot find the host", "There is none.", "Correct it.", "host_not_found")
SLOW = OperatorError("Host esx-04", "esxcli failed", "No answer.", "Run again.", "fate_unknown")
# A list of texts in place of a list of VIBs.
ODD = ["one", "two"]


class VCenter:
    """A connection; its other ones are counted in opened."""

    def __init__(self, opened):
        self.opened = opened

    def offers(self, _version):
        return True

    def another(self):
        self.opened.append(VCenter(self.opened))
        return self.opened[-1]

    def close(self):
        pass


def host_of(name):
    number = int(name[-2:])
    row = Row(
        vim.HostSystem(f"host-{number}"),
        {"config.network": SimpleNamespace(pnic=[]), "runtime.connectionState": "connected"},
        {},
    )
    return HostFound(
        ref=row.ref, moid=row.moid, name=name, path=f"/dc/{name}", cluster=None, cluster_ref=None, datacenter="dc",
        datacenter_ref=None, connection="connected", row=row,
    )  # fmt: skip


def gathered(monkeypatch, names, answers):
    """(result, connections besides the first, warnings). answers: {name: answer about VIBs, or an exception}."""
    found = {name: answers[name] if answers.get(name) is ABSENT else host_of(name) for name in names}
    rows = [one.row for one in found.values() if one is not ABSENT]
    # Their VMs, of which none is on one of these hosts.
    rows += [Row(vim.VirtualMachine(f"vm-{number}"), {}, {}) for number in range(20)]
    asked = threading.Lock()

    def opened(_vcenter, host, _params):
        def call(command):
            with asked:
                answer = answers.get(host.name, [])
            if isinstance(answer, Exception):
                raise answer
            return answer if command == "software.vib.list" else []

        return SimpleNamespace(call=call)

    monkeypatch.setattr(gather.hosts, "find_each", lambda *_a: found)
    monkeypatch.setattr(gather.hosts, "over", lambda _vcenter, one: one)
    monkeypatch.setattr(gather, "_rows", lambda *_a: rows)
    monkeypatch.setattr(gather.facts, "facts", lambda one, *_more: {"name": one.name})
    monkeypatch.setattr(gather.esxcli_ssh, "open_esxcli", opened)
    vcenter, said = VCenter([]), []
    return gather.gather_all(vcenter, {"hosts": names, "options": []}, said.append), vcenter.opened, said


def test_a_failure_of_any_kind_is_of_its_host_only(monkeypatch):
    names = [f"esx-{number:02}" for number in (7, 99, 2, 4, 3, 1)]
    result, _opened, said = gathered(monkeypatch, names, {"esx-99": ABSENT, "esx-04": SLOW, "esx-02": ODD})
    assert list(result) == names
    assert [name for name in names if result[name] == {"name": name}] == ["esx-07", "esx-03", "esx-01"]
    assert (result["esx-99"], result["esx-04"]) == (ABSENT, SLOW)
    odd = result["esx-02"]
    assert odd.code == "unexpected_answer"
    assert odd.message == (
        "Host esx-02: cannot read the host. The module cannot interpret an answer of this host (AttributeError: 'str' "
        "object has no attribute 'get'). Run esxi_host_info with `host: esx-02` to get the traceback, and report it as "
        "a defect."
    )
    # Warnings have the order of the hosts, whoever answers first.
    assert [text.partition(":")[0][-6:] for text in said] == ["esx-07", "esx-02", "esx-04", "esx-03", "esx-01"]


@pytest.mark.parametrize("size, others", [(0, 0), (1, 0), (2, 0), (3, 1), (6, 2), (40, 7)])
def test_each_two_hosts_have_a_connection_and_all_of_them_have_eight(monkeypatch, size, others):
    names = [f"esx-{number:02}" for number in range(1, size + 1)]
    result, opened, _said = gathered(monkeypatch, names, {})
    assert (list(result), len(opened)) == (names, others)


@pytest.mark.parametrize("host, there", [("host-1", True), ("host-2", False), (None, False)])
def test_a_vm_is_of_the_host_on_which_it_runs(host, there):
    values = {"runtime.host": vim.HostSystem(host)} if host else {}
    assert gather._runs_on(Row(vim.VirtualMachine("vm-1"), values, {}), host_of("esx-01")) is there
