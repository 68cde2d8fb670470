"""The picture of a site: which GPU each VM has, on which card, as far as it is known."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes, record, topology
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.modules import validation_result
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation import results

from unit.plugins.modules.described import checked

from .healthy import healthy, requested

PLACE = {"host": "esx-01", "nic": "vmnic2", "address": "10.0.112.11"}


def smi(*gpus, simulated=False):
    """What nvidia-smi reported in job-01."""
    readings = {"gpus": [dict(zip(("name", "virtualization", "mig"), gpu, strict=True)) for gpu in gpus]}
    one = {"check": "guest.driver", "subject": {"guest": "job-01"}, "readings": readings, "simulated": simulated}
    return [{"check": "guest.kernel", "subject": {"guest": "job-01"}}, one]


def drawn(measurements=(), gpu=0):
    """((card, MIG, vGPUs) of each GPU, the VM's own words)."""
    made = topology.picture({"job-01": {**PLACE, "gpu": gpu}}, measurements=measurements)
    ((host,), (vm,)) = made["hosts"], made["vms"]
    assert {one["vm"] for one in host["gpus"]} <= {"job-01"}
    return [(one["name"], one["mig"], one["vgpus"]) for one in host["gpus"]], vm["gpu"]


def test_a_guest_with_a_port_of_its_host_is_at_the_place_of_the_port():
    own = {"host": "esx-01", "nic": "0000:3a:00.1", "address": "10.0.112.11"}
    paths = [{"a": {"name": "job-01", "port": "ens224"}, "b": {"name": "leaf-01", "port": "Ethernet1"}}]
    given = {"agreement": {"paths": paths}, "switches": [{"name": "leaf-01", "platform": "eos"}]}
    ((host,),) = (topology.picture({"job-01": own}, **given)["hosts"],)
    assert [(one["name"], one["switch"], one["port"]) for one in host["nics"]] == [
        ("0000:3a:00.1", "leaf-01", "Ethernet1")
    ]


VGPU = ("GRID A100-40C", "vgpu", False)
CARD = ("A100 PCIe 40GB", "", ["grid_a100-40c"])
UNSEEN = ("unseen GPU", "", [])


@pytest.mark.parametrize(
    "reported, many, gpus, words",
    [
        ([VGPU], 1, [CARD], "grid_a100-40c"),
        ([("NVIDIA A100-40C", "vgpu", False)], 1, [CARD], "grid_a100-40c"),
        (
            [("NVIDIA H100XM-3-40C", "vgpu", True)],
            1,
            [("H100 SXM5 80GB", "3g.40gb", ["nvidia_h100xm-3-40c"])],
            "nvidia_h100xm-3-40c",
        ),
        (
            [("NVIDIA A100-PCIE-40GB", "passthrough", False)],
            1,
            [("NVIDIA A100-PCIE-40GB", "", [])],
            "NVIDIA A100-PCIE-40GB",
        ),
        ([("NVIDIA A30", "passthrough", True)], 1, [("NVIDIA A30", "MIG", [])], "NVIDIA A30"),
        # A card that is newer than the table.
        ([("NVIDIA Z900-8C", "vgpu", False)], 1, [("NVIDIA Z900-8C", "", ["NVIDIA Z900-8C"])], "NVIDIA Z900-8C"),
        ([VGPU, VGPU], 2, [CARD, CARD], "2 x grid_a100-40c"),
        ([VGPU], 2, [CARD, UNSEEN], "grid_a100-40c, unseen GPU"),
        ([], 1, [UNSEEN], "unseen GPU"),
        ([], 0, [], ""),
        ([VGPU], None, [CARD], "grid_a100-40c"),
        ([], "grid_a100-40c", [CARD], "grid_a100-40c"),
    ],
)
def test_each_gpu_of_a_vm_is_reported_with_its_card(reported, many, gpus, words):
    assert drawn(smi(*reported), many) == (gpus, words)


def test_a_simulated_gpu_is_marked_and_one_that_nobody_saw_is_not():
    made = topology.picture({"job-01": {**PLACE, "gpu": 2}}, measurements=smi(VGPU, simulated=True))
    assert [gpu["simulated"] for gpu in made["hosts"][0]["gpus"]] == [True, False]


@pytest.mark.parametrize(
    "declared, marked",
    [
        ([], set()),
        (["vcenter"], {"host", "vm", "gpu"}),
        (["hosts"], {"host", "nic"}),
        (["switches"], {"switch"}),
        (["guests"], {"vm"}),
        (["network"], set()),
    ],
)
def test_parts_of_the_topology_are_marked_by_what_they_rest_on(declared, marked):
    ends = ({"name": "esx-01", "port": "vmnic2"}, {"name": "leaf-01", "port": "Ethernet1"})
    paths = {"paths": [{"a": ends[0], "b": ends[1]}]}
    # A GPU that vCenter alone reports.
    made = topology.picture(
        {"job-01": {**PLACE, "host": "esx-01", "gpu": 1}}, paths, [], [{"name": "leaf-01"}], (), declared
    )
    (host,), (switch,), (vm,) = made["hosts"], made["switches"], made["vms"]
    found = {"host": host, "vm": vm, "switch": switch, "nic": host["nics"][0], "gpu": host["gpus"][0]}
    assert {kind for kind, one in found.items() if one["simulated"]} == marked


def test_the_last_look_counts_and_other_guests_do_not():
    other = dict(smi(VGPU)[1], subject={"guest": "job-02"})
    assert drawn([*smi(), *smi(VGPU)], 1)[0] == [CARD]
    assert drawn([other], 1)[0] == [UNSEEN]


def test_what_the_guests_said_reaches_the_record_and_the_report(tmp_path):
    guest = healthy(tmp_path)
    found, outputs = probes.measured(requested(name="job-01", simulated=["gpu"]), guest, guest.files)
    given = {
        "intent": {"guests": ["job-01"], "data_path": "tcp"},
        "guests": {"job-01": {"before": {"measurements": found, "outputs": outputs}}},
        "places": {"job-01": {**PLACE, "gpu": 1}},
        "result_dir": str(tmp_path / "results"),
    }
    made, _files, _kept = record.record(checked(given, validation_result.ARGUMENTS), "2026-03-01T09:00:00Z")
    (host,) = document(made, None)["topology"]["hosts"]
    card = {"name": "A100 PCIe 40GB", "mig": "", "vgpus": ["grid_a100-40c"], "vm": "job-01", "simulated": True}
    assert host["gpus"] == [card]


def test_the_role_hands_on_how_many_gpus_a_guest_has():
    guest = {"name": "job-01", **PLACE, "gpu": 2, "slots": 1, "interface": "ens224"}
    assert results.parts([guest])["places"] == {"job-01": {**PLACE, "gpu": 2}}
