"""VMs that left the site: they are reported wherever GPUs are counted, and removed by an explicit word alone."""

from __future__ import annotations

from .machines import created, untouched, vms_of
from .test_preflight import found, look

ONE = [{"prefix": "job-", "count": 1}]
GPU = "job-02 (esx-02.lab.example, grid_a100-40c)"


def there(lab):
    return sorted(vm.name for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name.startswith(("job-", "new-")))


def made(lab, **changes):
    """A site whose second VM has left it, and runs."""
    assert lab.run(*lab.site(**created("tcp", name="lab", **changes))).status == 0
    assert there(lab) == ["job-01", "job-02"]


def test_a_vm_that_left_is_reported_and_removed_once_it_is_named_and_may_be_shut_down(lab):
    lab = lab()
    made(lab)
    bystander = untouched(vms_of(lab)[0])
    reported = lab.run(*lab.site(**created("tcp", ONE, name="lab")))
    assert reported.status == 0, reported.output
    assert "job-02 on esx-02.lab.example: It is a VM of the site lab and not in site.vms." in reported.text
    assert "It runs and holds grid_a100-40c." in reported.text
    # Where GPUs are short, the message names who holds them, and the key.
    new = [{"name": "job-01"}, {"name": "new-01"}]
    short = lab.run(*lab.site(**created("tcp", new, name="lab")))
    assert short.status != 0
    assert "2 requested, 1 free, 1 short" in short.text
    assert f"VMs that left the site hold GPUs: {GPU}." in short.text
    assert "Set site.absent to [job-02] and site.power to cycle to remove them" in short.text
    refused = lab.run(*lab.site(**created("tcp", new, name="lab", absent=["job-02"])))
    assert refused.status != 0
    assert "Cannot remove job-02. A VM is removed only while it is off, and these run." in refused.text
    assert there(lab) == ["job-01", "job-02"]
    site = lab.site(**created("tcp", new, name="lab", absent=["job-02"], power="cycle"))
    planned = lab.run("--check", "--diff", *site)
    assert planned.status == 0, planned.output
    assert '"exists": false' in planned.output
    assert there(lab) == ["job-01", "job-02"]
    done = lab.run(*site)
    assert done.status == 0, done.output
    assert there(lab) == ["job-01", "new-01"]
    assert untouched(vms_of(lab, ["job-01"])[0]) == bystander
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output


def test_prune_removes_what_the_site_created_and_nothing_else(lab):
    lab = lab()
    made(lab)
    wrong = lab.run(*lab.site(**created("tcp", [{"name": "new-01"}], name="lab", prune="delete", power="cycle")))
    assert wrong.status != 0
    assert "Only 0 VMs of the site lab would stay." in wrong.text
    assert there(lab) == ["job-01", "job-02"]
    _run, reported = look(lab, site=created("tcp", ONE, name="lab"))
    row = found(reported, "/lab/vm/training/job-02", "VM that left the site")
    assert (row["category"], row["state"]) == ("capacity", "open")
    assert "It runs and holds grid_a100-40c." in row["found"]
    assert "Set site.absent to [job-02] and site.power to cycle" in row["todo"]
    # As a run leaves it that was killed between the shutdown and the removal.
    left = vms_of(lab)[1]
    left.power = "poweredOff"
    lab.twin.world.touch(left)
    done = lab.run(*lab.site(**created("tcp", ONE, name="lab", prune="delete")))
    assert done.status == 0, done.output
    assert there(lab) == ["job-01"]
    assert "train-01" in [vm.name for vm in lab.twin.world.of_kind("VirtualMachine")]
