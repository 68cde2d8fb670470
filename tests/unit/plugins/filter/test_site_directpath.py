"""DirectPath as the data path of a site: what the roles get of it, and what is rejected."""

from __future__ import annotations

import copy
import re

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import validate
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import request_of

from house.collection import ROOT

from .machine_inputs import GPU, PORT, inputs, placed

FILTERS = FilterModule().filters()
site_problems, site_hosts, site_machines = (FILTERS[name] for name in ("site_problems", "site_hosts", "site_machines"))
NIC, OTHER = "0000:3a:00.0", "0000:86:00.0"
WHOLE = {
    "cluster": "gpu",
    "licence": "none",
    "gpu": {"mode": "directpath"},
    "network": {"path": "directpath", "nics": [NIC]},
    "machine": {"template": "ubuntu-template", "cpus": 16, "memory_gb": 64},
    "vms": [{"prefix": "job-", "count": 2}],
}
GROUP = {"assignment": "group", "group": "gpu-nic"}
PAIR = "Nvidia:2@grid_a100-40c%NVLink"
NVLINK_SET = {"assignment": "group", "group": PAIR}
DVX = {"assignment": "dvx", "gpu_class": "com.example.gpu", "port_class": "com.example.port"}
DRIVER = {"package": "nvidia-driver-580-open", "source": "repository"}


def site(**parts):
    """The site above, with keys of its parts replaced; None removes a part."""
    made = copy.deepcopy(WHOLE)
    for name, part in parts.items():
        made[name] = {**made.get(name, {}), **part} if isinstance(part, dict) else part
    return {name: part for name, part in made.items() if part is not None}


SOUND = {
    "GPU and port by labels, without a licence": site(),
    "with the data centre driver": site(guests={"driver": DRIVER}),
    "with a licence and a device group": site(licence="nvaie", directpath=GROUP, gpu={"nvlink": "required"}),
    "NVLink sets by a device group, without a port": site(
        licence="nvaie",
        directpath=NVLINK_SET,
        gpu={"per_vm": 4, "nvlink": "required"},
        network={"path": "tcp", "nics": []},
    ),
    "GPU and port by device classes, with vMotion": site(directpath={**DVX, "vmotion": "required"}),
    "GPU by a device class": site(directpath={**DVX, "port_class": None}, network={"path": "tcp", "nics": []}),
    "GPU alone": site(network={"path": "tcp", "nics": []}),
    "port alone, with vGPUs": site(licence="nvaie", gpu={"mode": "vgpu", "profile": "grid_a100-40c"}),
    "five GPUs on hardware version 20": site(machine={"hardware_version": 20}, gpu={"per_vm": 5}),
    "static passthrough without a licence": site(gpu={"mode": "passthrough"}, network={"path": "tcp", "nics": []}),
    "NVLink peers of whole vGPUs": site(
        licence="nvaie", gpu={"mode": "vgpu", "profile": "grid_a100dx-80c", "per_vm": 2, "nvlink": "required"}
    ),
}


@pytest.mark.parametrize("given", SOUND.values(), ids=SOUND)
def test_a_sound_site_has_no_problem(given):
    assert site_problems(given) == []


VGPU = {"mode": "vgpu", "profile": "grid_a100-40c"}
WRONG = {
    "no licence, but vGPUs": (site(gpu=VGPU), "site.licence: it is none, but gpu.mode is vgpu"),
    "no licence, but a host driver": (
        site(driver={"url": "https://depot.example.org/NVD-AIE-800_550.54.16.zip"}),
        "site.driver: it installs NVIDIA's host driver, but site.licence is none",
    ),
    "no licence, but a licence in guests": (
        site(guests={"licence": {"token_file": "/srv/token.tok"}}),
        "site.guests.licence: it configures a licence, but site.licence is none",
    ),
    "no licence, but the vGPU driver": (
        site(guests={"driver": {**DRIVER, "flavour": "vgpu"}}),
        "site.guests.driver.flavour: it is vgpu, whose driver needs a licence",
    ),
    "no licence, but a device group": (site(directpath=GROUP), "NVIDIA's host driver offers the device groups"),
    "a group without a name": (
        site(licence="nvaie", directpath={"assignment": "group"}),
        "site.directpath.group: it is not set",
    ),
    "a group for half of a pair": (
        site(licence="nvaie", directpath=GROUP, gpu=VGPU),
        "a device group has the GPUs and the ports of a VM, but gpu.mode is vgpu",
    ),
    "an NVLink group with the port": (
        site(licence="nvaie", directpath=NVLINK_SET, gpu={"per_vm": 2}),
        f"site.directpath.group: {PAIR} has no port, but network.path is directpath",
    ),
    "an NVLink group without GPUs by DirectPath": (
        site(licence="nvaie", directpath=NVLINK_SET, gpu={**VGPU, "per_vm": 2}),
        f"site.directpath.group: {PAIR} has GPUs, but gpu.mode is vgpu",
    ),
    "a part of an NVLink group": (
        site(licence="nvaie", directpath=NVLINK_SET, gpu={"per_vm": 3}, network={"path": "tcp", "nics": []}),
        f"site.gpu.per_vm: it is 3, but the device group {PAIR} has 2 GPUs",
    ),
    "a password in place of a group": (
        site(licence="nvaie", directpath={"assignment": "group", "group": "admin:s3cret@vcenter"}),
        "site.directpath.group: it contains credentials",
    ),
    "a group beside labels": (site(directpath={"group": "gpu-nic"}), "it has no effect, because assignment is labels"),
    "a group on old hardware": (
        site(licence="nvaie", directpath=GROUP, machine={"hardware_version": 19}),
        "a device group needs hardware version 20",
    ),
    "no class of the GPUs": (
        site(directpath={**DVX, "gpu_class": None}),
        "site.directpath.gpu_class: it is not set, and assignment is dvx",
    ),
    "no class of the ports": (
        site(directpath={**DVX, "port_class": " "}),
        "site.directpath.port_class: it is not set, and assignment is dvx",
    ),
    "a class without its device": (
        site(directpath=DVX, network={"path": "tcp", "nics": []}),
        "site.directpath.port_class: it has no effect, unless assignment is dvx and network.path is directpath",
    ),
    "a class beside labels": (
        site(directpath={"gpu_class": "com.example.gpu"}),
        "site.directpath.gpu_class: it has no effect, unless assignment is dvx and gpu.mode is directpath",
    ),
    "a group beside classes": (
        site(directpath={**DVX, "group": "gpu-nic"}),
        "it has no effect, because assignment is dvx",
    ),
    "a class on old hardware": (
        site(directpath=DVX, machine={"hardware_version": 19}),
        "Enhanced DirectPath I/O needs hardware version 20",
    ),
    "NVLink by a class": (
        site(directpath=DVX, gpu={"nvlink": "required", "per_vm": 2}),
        "a device class does not select GPUs by their NVLink connections",
    ),
    "vMotion by labels": (
        site(directpath={"vmotion": "required"}),
        "only Enhanced DirectPath I/O supports vMotion",
    ),
    "vMotion beside virtual functions": (
        site(
            directpath={**DVX, "port_class": None, "vmotion": "required"},
            network={"path": "sriov", "nics": ["vmnic2"], "vfs": 4, "portgroup": "pg"},
        ),
        "it is required, but network.path is sriov, which does not support vMotion",
    ),
    "no label": (site(directpath={"label": " "}), "site.directpath.label: it is empty"),
    "DirectPath settings without DirectPath": (
        site(licence="nvaie", gpu=VGPU, network={"path": "tcp", "nics": []}, directpath=GROUP),
        "site.directpath: it has no effect",
    ),
    "more than four GPUs on old hardware": (
        site(machine={"hardware_version": 19}, gpu={"per_vm": 5}),
        "site.gpu.per_vm: 5 GPUs per VM need hardware version 20",
    ),
    "more devices than a VM can have": (site(gpu={"per_vm": 32}), "33 devices per VM exceed the 32"),
    "no ATS": (site(network={"ats": "disabled"}), "site.network.ats: it is disabled, but the path directpath"),
    "a port by its name": (site(network={"nics": ["vmnic2"]}), "With the path directpath, name ports by their PCI"),
    "a port group": (site(network={"portgroup": "pg"}), "because with the path directpath a VM has the port itself"),
    "a profile": (site(gpu={"profile": "grid_a100-40c"}), "but site.gpu.mode is directpath"),
    "memory that is not reserved": (
        site(gpu={"memory_reservation": "ignore"}),
        "site.network.path is directpath and site.gpu.mode is directpath",
    ),
    "NVLink by labels": (
        site(gpu={"nvlink": "required", "per_vm": 2}),
        "labels do not select GPUs by their NVLink connections",
    ),
    "NVLink with MIG": (
        site(licence="nvaie", gpu={"mode": "mig", "profile": "grid_a100-3-20c", "nvlink": "required"}),
        "MIG instances have no NVLink",
    ),
    "NVLink of one GPU": (site(licence="nvaie", gpu={**VGPU, "nvlink": "required"}), "each VM has one GPU"),
    "NVLink of parts of GPUs": (
        site(licence="nvaie", gpu={"mode": "vgpu", "profile": "grid_a100-20c", "per_vm": 2, "nvlink": "required"}),
        "grid_a100-20c is not a whole GPU",
    ),
}


@pytest.mark.parametrize("given, words", WRONG.values(), ids=WRONG)
def test_a_conflict_is_named_with_its_fix(given, words):
    (problem,) = (one for one in site_problems(given) if words in one)
    assert problem.rstrip().endswith(".")


PAGE = (ROOT / "docs" / "data_paths.md").read_text()
TABLE = PAGE.partition("## Rejected cases of DirectPath")[2].partition("\n## ")[0]
# {case: words of its message}
CASES = dict(re.findall(r"^\| (?!Case |---)(.*?) \| `*(.*?)`* \|$", TABLE, re.M))
TESTS = yaml.safe_load((ROOT / "tests" / "data" / "directpath_cases.yml").read_text())
HERE = [
    (case, one["row"]) for case, tests in TESTS.items() for one in tests if one["file"] == "test_site_directpath.py"
]
# Test files by the part of their path that the file of the cases has.
FILES = {
    str(path.relative_to(ROOT / "tests")): path
    for path in [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests" / "guests" / "faults").glob("*.py")]
}


@pytest.mark.parametrize("case, name", HERE, ids=[name for case, name in HERE])
def test_the_page_quotes_the_message_of_a_case(case, name):
    assert any(CASES[case] in problem for problem in site_problems(WRONG[name][0]))


def test_each_case_of_the_page_has_its_tests_and_no_other_case_has():
    assert len(TESTS) >= 20
    assert list(CASES) == list(TESTS)


@pytest.mark.parametrize("item", ["P2P", "ATS", "mode", "label", "image", "token"])
def test_the_page_has_a_case_for_each_item_that_a_run_needs(item):
    assert [case for case in CASES if item in case]


@pytest.mark.parametrize("case", TESTS)
def test_each_case_of_the_page_is_tested(case):
    for one in TESTS[case]:
        found = [path for part, path in FILES.items() if part == one["file"] or part.endswith(f"/{one['file']}")]
        assert len(found) == 1, one
        words = f"def {one['function']}(" if "function" in one else f'"{one["row"]}"'
        assert words in found[0].read_text(), one


@pytest.mark.parametrize("name, number", [("README.md", 0), ("docs/site.md", 1)])
def test_the_first_example_for_a_new_site_has_directpath_and_torchrun(name, number):
    page = (ROOT / name).read_text()
    example = yaml.safe_load(re.findall(r"```yaml\n(site:.*?)```", page, re.S)[number])["site"]
    assert site_problems(example) == []
    assert (example["gpu"]["mode"], example["network"]["path"], example["licence"]) == (*["directpath"] * 2, "none")
    assert validate(example)[0]["training"]["engine"] == "torchrun"


def test_hosts_without_a_licence_get_passthrough_labels_ats_and_no_driver():
    wanted = site_hosts(site())
    assert (wanted["gpu_passthrough"], wanted["nic_passthrough"], wanted["directpath_label"]) == (
        "enabled",
        True,
        "aiready",
    )
    assert (wanted["driver"], wanted["graphics_type"], wanted["mig"], wanted["profiles"]) == (
        {},
        "ignore",
        "ignore",
        [],
    )
    assert (wanted["nic_firmware"], wanted["kernel_settings"]) == ({"ATS_ENABLED": True}, {"atsSupport": True})


@pytest.mark.parametrize(
    "given, required",
    [
        (site(), True),
        (site(network={"ats": "ignore"}), True),
        (site(network={"gpudirect": "disabled"}), False),
        (site(network={"path": "passthrough"}), False),
        (site(network={"path": "tcp", "nics": []}), False),
    ],
)
def test_hosts_must_have_ats_where_a_gpu_and_a_port_come_by_directpath(given, required):
    assert site_hosts(given)["requires_ats"] is required


HOST = {
    "gpus": [{"id": "0000:39:00.0", "root": "0000:36"}, {"id": "0000:89:00.0", "root": "0000:85"}],
    "nics": [
        {"pci": NIC, "root": "0000:36"},
        {"pci": OTHER, "root": "0000:85"},
        {"pci": "0000:01:00.0", "root": "0000:00"},
    ],
}


def test_devices_of_one_root_get_one_label_and_others_none():
    request = request_of(
        {
            key: value
            for key, value in site_hosts(site()).items()
            if key in ("nics", "nic_passthrough", "gpu_passthrough", "directpath_label")
        }
    )
    assert [(one["id"], one.get("label")) for one in request.passthrough_on(HOST)] == [
        ("0000:39:00.0", "aiready-0000-36"),
        ("0000:89:00.0", "aiready-0000-85"),
        (NIC, "aiready-0000-36"),
    ]


def test_static_passthrough_keeps_the_labels():
    wanted = site_hosts(site(gpu={"mode": "passthrough"}, network={"path": "passthrough"}))
    assert wanted["directpath_label"] == ""
    assert request_of({"gpu_passthrough": "enabled"}).passthrough_on(HOST)[0] == {
        "id": "0000:39:00.0",
        "state": "enabled",
        "take_from_vgpu": True,
    }


def test_machines_get_the_mechanism_of_each_assignment():
    keys = ("gpu_mode", "path", "gpu_assignment", "nic_assignment", "directpath_label", "device_group", "gpudirect")
    labels, group = (site_machines(given) for given in (site(), site(licence="nvaie", directpath=GROUP)))
    assert [labels[key] for key in keys] == [
        "passthrough",
        "passthrough",
        "dynamic",
        "dynamic",
        "aiready",
        "",
        "enabled",
    ]
    assert [group[key] for key in keys] == ["passthrough", "passthrough", "group", "group", "", "gpu-nic", "enabled"]


def devices(place, gpus=1, **changes):
    asked = inputs(template="t", path="passthrough", gpu_mode="passthrough", **changes)
    (entry,) = FILTERS["machine_steps"]([{"name": "a", "gpus": gpus}], asked, place)["config"]
    return entry["passthrough"]["devices"]


def test_a_vm_requests_the_pair_of_the_root_that_the_placement_selected():
    place = placed("a", gpus=[dict(GPU, root="0000:36")], nics=[dict(PORT, root="0000:36")])
    how = {"gpu_assignment": "dynamic", "nic_assignment": "dynamic", "directpath_label": "aiready"}
    assert devices(place, **how) == [
        {"kind": "dynamic", "allowed": ["10de:20f1"], "label": "aiready-0000-36"},
        {"kind": "dynamic", "allowed": ["15b3:101d"], "label": "aiready-0000-36"},
    ]


def test_a_vm_requests_its_device_group_once_for_each_gpu():
    how = {"gpu_assignment": "group", "nic_assignment": "group", "device_group": "gpu-nic"}
    assert devices(placed("a"), **how) == [{"kind": "group", "group": "gpu-nic"}]


@pytest.mark.parametrize("gpus, groups", [(2, 1), (4, 2)])
def test_a_vm_requests_a_group_of_gpus_with_nvlink_as_often_as_it_has_gpus_for_it_and_its_port(gpus, groups):
    how = {"gpu_assignment": "group", "nic_assignment": "static", "device_group": PAIR}
    assert devices(placed("a", nics=[dict(PORT, root="0000:36")]), gpus=gpus, **how) == [
        *[{"kind": "group", "group": PAIR}] * groups,
        {"kind": "static", "id": PORT["pci"]},
    ]


@pytest.mark.parametrize(
    "licence, driver, flavour",
    [
        ("none", DRIVER, "data_centre"),
        ("nvaie", DRIVER, "vgpu"),
        ("nvaie", {**DRIVER, "flavour": "data_centre"}, "data_centre"),
    ],
)
def test_the_licence_decides_the_driver_of_guests_unless_it_is_set(licence, driver, flavour):
    vm = {"path": "/lab/vm/job-1", "name": "job-1", "address": "192.0.2.1", "adapters": [], "gpus": 1, "host": {}}
    given = site(licence=licence, guests={"driver": driver}, vms=[{"name": "job-1"}])
    reported = FILTERS["site_guests"](given, {"vms": [vm]})
    assert reported["guests"]["job-1"]["driver"]["flavour"] == flavour


def test_device_classes_are_required_of_the_hosts_and_no_passthrough_is_enabled():
    wanted = site_hosts(site(directpath={**DVX, "vmotion": "required"}))
    assert wanted["dvx_classes"] == {"gpu": "com.example.gpu", "nic": "com.example.port"}
    assert (wanted["requires_vmotion"], wanted["gpu_passthrough"], wanted["nic_passthrough"]) == (True, "ignore", False)
    assert wanted["nic_firmware"] == {"ATS_ENABLED": True}


def test_a_vm_requests_devices_of_its_classes_and_its_pairs_are_placed():
    given = site_machines(site(directpath=DVX, gpu={"per_vm": 2}))
    assert (given["gpu_class"], given["nic_class"]) == ("com.example.gpu", "com.example.port")
    how = {"gpu_assignment": "dvx", "nic_assignment": "dvx", "gpu_class": "g", "nic_class": "p"}
    assert devices(placed("a"), **how) == [{"kind": "dvx", "device_class": name} for name in ("g", "p")]
    wanted = inputs(template="t", gpu_mode="passthrough", path="passthrough", gpudirect="enabled", **how)
    place = FILTERS["machine_options"]([{"name": "job-01", "gpus": 2}], wanted)
    assert (place["place"]["gpu_mode"], place["place"]["path"], place["place"]["gpudirect"]) == ("dvx", "dvx", True)
    assert [("nics" in one, one["gpus"]) for one in place["to_place"]] == [(True, 2)]
