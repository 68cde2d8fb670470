# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import itertools

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import picture
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document

from browser import runs

FORMS = [picture.WIDE, picture.NARROW]


def topology(nodes=4, change=lambda found: None):
    found = runs.topology(runs.Run(nodes, fake=False))
    change(found)
    return document({"topology": found}, None)["topology"]


def boxes(drawn, kind):
    return [box for box in drawn["boxes"] if box["kind"] == kind]


def two_of_each(found):
    """A host with two VMs, GPUs and adapters, that lead to two switches."""
    host = found["hosts"][0]
    host["gpus"] = [{"name": f"GPU {index}", "vgpus": []} for index in (1, 2)]
    host["nics"] = [
        {"name": f"vmnic{index}", "speed_gb": 25, "switch": f"leaf-0{index}", "port": "Ethernet9"} for index in (1, 2)
    ]
    host["vms"] = ["left", "right"]
    found["vms"][:1] = [
        {"name": "left", "host": host["name"], "gpu": "GPU 1", "nic": "vmnic1", "address": ""},
        {"name": "right", "host": host["name"], "gpu": "GPU 2", "nic": "vmnic2", "address": ""},
    ]


def crowded(found):
    """Hosts whose VMs have many GPUs, of one kind and of two, and a card that two VMs share."""
    (one, other), vms = found["hosts"][:2], found["vms"]
    whole = {"name": "NVIDIA H100 80GB HBM3", "mig": "", "vgpus": [], "vm": vms[0]["name"]}
    small = {"name": "NVIDIA A30", "mig": "", "vgpus": [], "vm": vms[0]["name"]}
    one["gpus"] = [whole] * 8 + [small]
    part = {"name": "A100 PCIe 40GB", "mig": "3g.20gb", "vgpus": ["grid_a100-3-20c"], "simulated": True}
    other["gpus"] = [dict(part, vm="left"), dict(part, vm="right"), {"name": "NVIDIA T4", "vgpus": []}]
    other["vms"] = ["left", "right"]
    vms[1:2] = [dict(vms[1], name=name, gpu="grid_a100-3-20c") for name in other["vms"]]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("change", [lambda found: None, two_of_each, crowded], ids=["plain", "two of each", "crowded"])
def test_no_box_lies_on_another_or_outside_of_the_picture(form, change):
    (drawn,) = picture.pictures(topology(4, change), form)
    small = [box for box in drawn["boxes"] if box["kind"] != "host"]
    for box in drawn["boxes"]:
        assert 0 <= box["x"] <= box["x"] + box["w"] <= drawn["width"]
        assert 0 <= box["y"] <= box["y"] + box["h"] <= drawn["height"]
    for one, other in itertools.combinations(small, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, f"{one['title']} and {other['title']}"


def test_each_vm_is_joined_to_its_gpu_and_adapter_and_each_adapter_to_its_port():
    (drawn,) = picture.pictures(topology(2), picture.WIDE)
    titles = [wire["title"] for wire in drawn["wires"]]
    assert "job-01, 10.20.0.11 has A100-PCIE-40GB, grid_a100-40c" in titles
    assert "job-01, 10.20.0.11 has vmnic2, 100 Gb/s" in titles
    assert "vmnic2 to leaf-01 Ethernet1" in titles
    assert "leaf-01 swp31 to spine-01" in titles


def test_vms_of_one_host_get_devices_of_their_own():
    (drawn,) = picture.pictures(topology(1, two_of_each), picture.WIDE)
    titles = [wire["title"] for wire in drawn["wires"]]
    assert {"left, VM has GPU 1, GPU", "right, VM has GPU 2, GPU", "right, VM has vmnic2, 25 Gb/s"} <= set(titles)


def test_gpus_of_a_vm_stand_together_with_their_number_and_whose_they_are():
    (drawn,) = picture.pictures(topology(2, crowded), picture.WIDE)
    assert [box["title"] for box in boxes(drawn, "gpu")] == [
        "8 x H100 80GB HBM3, A30, GPUs",
        "A100 PCIe 40GB, simulated 3g.20gb grid_a100-3-20c",
        "A100 PCIe 40GB, simulated 3g.20gb grid_a100-3-20c",
        "T4, GPU",
    ]
    joined = [wire["title"].split(",")[0] for wire in drawn["wires"] if wire["kind"] == "gpu"]
    assert joined == ["job-01", "left", "right"]


def test_a_gpu_that_its_guest_does_not_show_is_drawn_as_that():
    def unseen(found):
        found["hosts"][0]["gpus"] = [{"name": "unseen GPU", "mig": "", "vgpus": [], "vm": "job-01"}]
        found["vms"][0]["gpu"] = "unseen GPU"

    (drawn,) = picture.pictures(topology(1, unseen), picture.WIDE)
    assert [box["lines"] for box in boxes(drawn, "gpu")] == [["unseen GPU"]]


def test_a_simulated_gpu_says_so_on_a_phone_too():
    found = document({"topology": runs.topology(runs.Run(1, fake=True))}, None)["topology"]
    for form in FORMS:
        (box,) = boxes(picture.pictures(found, form)[0], "gpu")
        assert box["lines"][1].startswith("simulated")


def test_two_vms_may_share_an_adapter():
    def shared(found):
        two_of_each(found)
        found["vms"][1]["nic"] = "vmnic1"

    (drawn,) = picture.pictures(topology(1, shared), picture.WIDE)
    assert [wire["title"] for wire in drawn["wires"] if wire["title"].endswith("has vmnic1, 25 Gb/s")] == [
        "left, VM has vmnic1, 25 Gb/s",
        "right, VM has vmnic1, 25 Gb/s",
    ]


def test_many_hosts_make_many_pictures():
    drawn = picture.pictures(topology(20), picture.WIDE)
    assert [(one["first"], one["last"], len(boxes(one, "host"))) for one in drawn] == [
        (1, 8, 8),
        (9, 16, 8),
        (17, 20, 4),
    ]


@pytest.mark.parametrize("key", ["gpus", "nics", "vms"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_host_without_something_is_drawn_all_the_same(form, key):
    def without(found):
        for host in found["hosts"]:
            host[key] = []
        if key == "vms":
            found["vms"] = []

    (drawn,) = picture.pictures(topology(2, without), form)
    assert len(boxes(drawn, "host")) == 2


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_switch_that_is_not_described_and_cables_that_are_not_known_are_no_trouble(form):
    def unknown(found):
        found["switches"] = []
        found["hosts"][1]["nics"][0].update(switch="", port="")

    (drawn,) = picture.pictures(topology(2, unknown), form)
    assert [box["title"] for box in boxes(drawn, "switch")] == ["leaf-01, switch"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_switches_beyond_those_of_the_hosts_stand_apart_from_them(form):
    (drawn,) = picture.pictures(topology(4), form)
    at = {box["lines"][0]: box for box in boxes(drawn, "switch")}
    spine = next(box for name, box in at.items() if name.startswith("spi"))
    leaves = [box for box in at.values() if box is not spine]
    if form is picture.WIDE:
        assert spine["x"] > max(leaf["x"] + leaf["w"] for leaf in leaves)
    else:
        assert spine["y"] > max(leaf["y"] + leaf["h"] for leaf in leaves) + 20
