"""The role of docs/security.md is enough for the stages that change something in vCenter."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.privileges import NEEDS

from rehearse import playbook

from .hosts import READY, factory, hosts_of, state

USER, BOSS = "automation@vsphere.local", "administrator@vsphere.local"


def test_stages_for_hosts_and_vms_run_with_the_role_of_the_page_alone(host_lab):
    seed = factory(2)
    seed["users"] = {USER: "word-of-automation", BOSS: "VMware1!"}
    # tests/house/test_security_page.py compares the command of the page with these.
    seed["roles"] = {"aiready": sorted({need.privilege for need in NEEDS if not need.without})}
    seed["permissions"] = [{"user": USER, "role": "aiready"}]
    lab = host_lab(seed)
    assert lab.twin.username == USER
    for stage in ("hosts", "machines"):
        run = lab.run(of=playbook.ROOT / "playbooks" / f"{stage}.yml", inventory=lab.inventory())
        assert (run.status, run.changed > 0) == (0, True), run.output
    assert [state(host) for host in hosts_of(lab)] == [READY, READY]
    names = ("job-01", "job-02")
    vms = {vm.name: vm.power for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in names}
    assert vms == dict.fromkeys(names, "poweredOn")
