# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.table import HEAD, WIDTH, table

from .worlds import GB, gpu, host, rules, split, there, vm, world


def entries(hosts, vms, held):
    where = world(*hosts)
    return answer.answer(where, vms, held, solve(where, vms, held), [])


def test_a_person_reads_vm_host_gpu_nic_node_and_why():
    vms = [vm("train-01", "40c", nics=1), vm("train-02", "40c", nics=1, present=there("host-2", "off"))]
    reported = entries([host(1, nics=(split(0),)), host(2, nics=(split(0),))], vms, rules(path="sriov", switch="dvs"))
    assert reported["table"].splitlines() == [
        "VM        HOST    GPU                    NIC     NODE  WHY",
        "train-01  esx-01  0000:10:00.0 a100-40c  vmnic0  0     create: emptiest host; GPU, NIC on one root",
        "train-02  esx-02  0000:10:00.0 a100-40c  vmnic0  0     keep: is here already; GPU, NIC on one root",
    ]


def test_several_gpus_and_long_names_go_on_below_in_their_own_column():
    name = "a-very-long-name-of-a-training-vm-in-this-site"
    lines = entries([host(1, gpus=2)], [vm(name, "40c", "40c")], rules())["table"].splitlines()
    assert len(lines) == 3
    assert "".join(line[:24].strip() for line in lines[1:]) == name
    assert [line[line.index("0000:") :].split()[0] for line in lines[1:]] == ["0000:10:00.0", "0000:11:00.0"]


def test_a_thousand_vms_are_all_there_within_the_width():
    hosts = [host(number, gpus=8, memory_gb=2048) for number in range(1, 101)]
    vms = [vm(f"train-{number:04}", "40c" if number % 2 else "20c", cpus=80) for number in range(1000)]
    lines = entries(hosts, vms, rules())["table"].splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert {line.split()[0] for line in lines}.issuperset({one.name for one in vms})


def test_a_vm_without_a_place_has_a_row_with_the_reason():
    (row,) = entries([host(1, gpus=0)], [vm("a", "40c")], rules())["table"].splitlines()[1:]
    assert row.split() == ["a", "-", "-", "-", "-", "vGPU", "profile", "(1", "host)"]


def test_a_plan_for_nobody_is_just_the_heading():
    assert table([]).split() == list(HEAD)


def test_of_a_path_the_name_is_reported_unless_two_vms_share_it():
    vms = [vm("/dc/vm/a/train-01"), vm("/dc/vm/b/train-01"), vm("/dc/vm/b/train-02")]
    lines = entries([host(1)], vms, rules())["table"].splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["/dc/vm/a/train-01", "/dc/vm/b/train-01", "train-02"]


def test_with_gpudirect_it_is_reported_when_vsphere_could_take_a_gpu_away_from_the_port():
    held = rules(path="sriov", switch="dvs", gpudirect=True)
    for number, reported in ((1, False), (2, True)):
        (entry,) = entries([host(1, gpus=number, nics=(split(0),))], [vm("a", "40c", nics=1)], held)["vms"]
        assert ("vSphere may choose another GPU" in entry["why"]) is reported


@pytest.mark.parametrize(
    "more, reported",
    [
        ({"memory_mb": 300 * GB}, "create: emptiest host; needs more than one node has"),
        ({"memory_mb": 0}, "create: emptiest host; memory unknown, not counted"),
        ({"pin": "host-1"}, "create: host as requested"),
        ({"present": there("host-9")}, "move: comes from a host that was not requested"),
        ({"present": there("host-2"), "pin": "host-1"}, "move: host as requested, leaves esx-02"),
        ({"present": there("host-1", "suspended")}, "keep: suspended here"),
        (
            {"present": there("host-1", "on", nodes=(1,), gpus=((gpu(0).id, "grid_a100-40c"),))},
            "keep: runs here; node affinity kept",
        ),
    ],
)
def test_why_reports_what_decided(more, reported):
    there_ = [host(1, gpus=2), host(2, gpus=0)]
    (entry,) = entries(there_, [vm("a", "40c", **more)], rules())["vms"]
    assert f"{entry['action']}: {entry['why']}" == reported


@pytest.mark.parametrize(
    "gpus, nics, root",
    [
        (["a"], ["a"], "a"),
        (["b", "a"], ["a", "b", "c"], "a, b"),
        (["a"], ["b"], None),
        (["a"], [], "a"),
        ([], ["b"], "b"),
        ([], [], None),
    ],
)
def test_roots_are_reported_where_each_gpu_shares_its_own_with_a_port(gpus, nics, root):
    on = [[SimpleNamespace(root=one) for one in devices] for devices in (gpus, nics)]
    assert answer._root(*on) == root
