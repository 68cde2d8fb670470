"""RDMA devices, their addresses, and GPUs, as tools of a guest print them."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_guest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import modules, smi, text, topology

from . import texts


def test_the_nearest_adapter_of_each_gpu():
    found = topology.parse(texts.TOPO)
    assert found["nearest"] == {"GPU0": {"nic": "mlx5_1", "class": "PHB"}, "GPU1": {"nic": "mlx5_0", "class": "PIX"}}
    assert found["numa"] == {"GPU0": [0, 1], "GPU1": [1]}
    assert (topology.rank("NV12"), topology.rank("SYS"), topology.rank("far")) == (1, 6, None)


def test_a_table_with_a_row_cut_off_is_none():
    assert topology.parse(texts.TOPO.replace("GPU1\tNV12\t X ", "GPU1 NV12"))["understood"] is False


def test_licence_and_memory_of_a_gpu():
    text = texts.SMI.format(licence="Unlicensed (Restricted)", volatile=1, pending="Yes")
    (gpu,) = smi.parse(text)["gpus"]
    assert (gpu["licence"], gpu["licensed"], gpu["virtualization"]) == ("Unlicensed (Restricted)", False, "vgpu")
    assert gpu["ecc"] == {
        "mode": "enabled",
        "corrected": 4,
        "uncorrected": 1,
        "ever_uncorrected": 2,
        "pending": True,
        "remap_failed": False,
    }


def test_what_a_guest_is_not_reported_is_neither_good_nor_bad():
    text = texts.SMI.format(licence="Licensed (Expiry: 2026-3-1 7:29:4 GMT)", volatile="N/A", pending="N/A")
    (gpu,) = smi.parse(text.replace("DRAM Uncorrectable            : 0", "DRAM Uncorrectable            : N/A"))["gpus"]
    assert (gpu["licensed"], "uncorrected" in gpu["ecc"], "pending" in gpu["ecc"]) == (True, False, False)


def test_a_whole_gpu_in_a_vm_reports_what_bare_metal_does():
    (gpu,) = smi.parse(texts.WHOLE.format(action="None", repair="No", unrepairable="No", exceeded="No"))["gpus"]
    assert (gpu["virtualization"], gpu["licence"], gpu["recovery"]) == ("passthrough", None, None)
    known = {"mode": "enabled", "corrected": 7, "uncorrected": 0, "ever_corrected": 9, "ever_uncorrected": 0}
    assert gpu["ecc"] == {**known, "exceeded": False, "pending": False, "unrepairable": False, "remap_failed": False}
    (gpu,) = smi.parse(texts.WHOLE.format(action="Reset", repair="Yes", unrepairable="Yes", exceeded="Yes"))["gpus"]
    reported = {key: gpu["ecc"][key] for key in ("exceeded", "pending", "unrepairable")}
    assert (gpu["recovery"], set(reported.values())) == ("Reset", {True})


@pytest.mark.parametrize("required, recovery", [("Yes", "Reset"), ("No", None), ("N/A", None)])
def test_older_drivers_ask_for_a_reset_in_other_words(required, recovery):
    older = f"    GPU Reset Status\n        Reset Required                : {required}\n    ECC Mode\n"
    text = texts.SMI.format(licence="Licensed", volatile=0, pending="No").replace("    ECC Mode\n", older)
    assert smi.parse(text)["gpus"][0]["recovery"] == recovery


def test_one_gpu_without_an_adapter_in_a_table_with_underlined_heads():
    head = "\t\x1b[4mGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    found = topology.parse(head + "GPU0\t X \t0-15\t0\t\tN/A\n\nLegend:\n\n  X    = Self\n")
    assert (found["nearest"], found["numa"], found["nics"]) == ({"GPU0": None}, {"GPU0": [0]}, {})


def test_a_table_that_was_copied_from_a_terminal_keeps_marks_of_its_underlined_head():
    assert topology.parse(texts.TOPO.replace("\x1b", ""))["nearest"] == topology.parse(texts.TOPO)["nearest"]


def test_nodes_that_lie_apart():
    found = topology.parse(texts.TOPO.replace("0-31\t0-1", "0-31\t0,2-3"))
    assert found["numa"]["GPU0"] == [0, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "Failed to initialize NVML: Unknown Error\n",
        "Failed to initialize NVML: Insufficient Permissions\n",
        "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system\n",
    ],
)
def test_what_nvidia_smi_complains_of_is_its_reason(text):
    for reported in (smi.parse(text), topology.parse(text)):
        assert (reported["understood"], text.strip().rstrip(".") in reported["why"]) == (True, True)


def test_the_last_line_of_a_text_is_no_frame():
    assert text.last_line("# a\nOut of memory\n ## ==== --- **\n") == "Out of memory"


@pytest.mark.parametrize(
    "words, recovery", [("GPU is lost", "Reboot"), ("[GPU requires reset]", "Reset"), ("Unknown Error", None)]
)
def test_a_gpu_that_does_not_answer_any_more_is_no_sound_one(words, recovery):
    text = texts.SMI.format(licence="Licensed", volatile=words, pending=words)
    assert smi.parse(text)["gpus"][0]["recovery"] == recovery


@pytest.mark.parametrize("text, understood", [("No devices were found", True), ("", False), ("hello", False)])
def test_no_gpus_are_reported_from_no_answer(text, understood):
    assert (smi.parse(text)["understood"], bool(smi.parse(text)["why"])) == (understood, True)


def test_modules_of_a_kernel_that_counts_no_users():
    """As the kernel of a small VM with an H100 prints /proc/modules: it was built without unloading."""
    found = modules.parse("nvidia_uvm 1830912 - - Live 0xffffffffc080c000 (O)\nnvidia 14299136 - - Live 0x0 (O)\n")
    assert found["modules"] == ["nvidia", "nvidia_uvm"]


def test_modules_by_either_spelling():
    found = modules.parse(
        "Module                  Size  Used by\nnvidia_peermem         16384  0\nnvidia 39059456 115 nvidia_uvm\n"
    )
    assert modules.has(found["modules"], "nvidia-peermem")
    assert not modules.has(found["modules"], "nouveau")


@pytest.mark.parametrize("shown", ["Unknown Error", "ERR!", "[Unknown Error]"])
@pytest.mark.parametrize(
    "line",
    [
        "SRAM Uncorrectable            : 0",
        "DRAM Uncorrectable            : 0",
        "Pending                           : No",
        "Remapping Failure Occurred        : No",
    ],
)
def test_a_state_of_the_memory_in_another_word_is_not_sound(line, shown):
    text = texts.SMI.format(licence="Licensed", volatile=0, pending="No")
    assert line in text
    about = About("guest.ecc", {"guest": "job-01"}, "", {}, {})

    def found(one):
        return check_guest.ecc({"gpus": smi.parse(one)["gpus"]}, about)

    assert (found(text).measured, found(text).remarks) == (0, [])
    unknown = found(text.replace(line, line.rpartition(": ")[0] + f": {shown}"))
    assert unknown.measured is None
    assert f": {shown}" in unknown.note


@pytest.mark.parametrize("word", ["Attached GPUs", "Attached vGPUs"])
def test_a_gpu_that_is_attached_and_does_not_answer_is_missing(word):
    text = texts.SMI.format(licence="Licensed", volatile=0, pending="No").replace("Attached vGPUs", word)
    lost = "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error\n"
    about = About("guest.driver", {"guest": "job-01"}, "", {"driver": "", "gpus_per_guest": 1}, {})
    assert check_guest.driver(smi.parse(text), about).remarks == []
    (remark,) = check_guest.driver(smi.parse(lost + text.replace(": 1\n", ": 2\n", 1)), about).remarks
    assert "The driver shows 1 of 2 GPUs." in str(remark)


def nvlink(text, required=True):
    """The verdict on the topology of a guest, what was measured, and the first reason."""
    about = About("guest.topology", {"guest": "job-01"}, "", {"nvlink": required, "nvlink_gpus": 0}, {})
    found = check_guest.nearness(topology.parse(text), about)
    return found.verdict, found.measured, found.reported[0].why if found.reported else ""


def test_gpus_that_must_be_nvlink_peers_and_are():
    assert nvlink(texts.TOPO) == ("pass", "NV12; PHB", "")
    assert nvlink(texts.TOPO, required=False) == ("pass", "PHB", "")


def test_gpus_that_must_be_nvlink_peers_and_are_not():
    verdict, measured, why = nvlink(texts.TOPO.replace("NV12", "SYS"))
    assert (verdict, measured) == ("fail", "SYS")
    assert why == "1 of 1 pairs of GPUs have no NVLink connection, such as GPU0 and GPU1 (SYS)."


CARD = "GPU {}: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n"
UP, DOWN = "\t Link {}: 25 GB/s\n", "\t Link {}: <inactive>\n"
NO_LINK = "\tNVML: Unable to retrieve NVLink information as all links are inActive\n"
WHOLE = "".join(UP.format(number) for number in range(12))
PART = "".join((DOWN if number > 9 else UP).format(number) for number in range(12))


@pytest.mark.parametrize(
    "status, verdict, why",
    [
        (CARD.format(0) + WHOLE + CARD.format(1) + WHOLE, "pass", ""),
        (CARD.format(0) + WHOLE + CARD.format(1) + PART, "warn", "Not all NVLinks are active: GPU1 10 of 12."),
        (CARD.format(0) + NO_LINK + CARD.format(1) + WHOLE, "fail", "GPU0: no NVLink is active."),
        (CARD.format(0) + DOWN.format(0) + CARD.format(1) + WHOLE, "fail", "GPU0: no NVLink is active."),
        ("Invalid combination of input arguments.\n", "pass", ""),
    ],
)
def test_the_state_of_the_links_counts_where_peers_are_required(status, verdict, why):
    values = dict(topology.parse(texts.TOPO), links=topology.links(status))
    about = About("guest.topology", {"guest": "job-01"}, "", {"nvlink": True, "nvlink_gpus": 0}, {})
    found = check_guest.nearness(values, about)
    assert (found.verdict, found.reported[0].why if found.reported else "") == (verdict, why)
    free = About("guest.topology", {"guest": "job-01"}, "", {"nvlink": False, "nvlink_gpus": 0}, {})
    assert check_guest.nearness(values, free).verdict == "pass"


def test_one_gpu_has_no_nvlink_peer():
    head = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    assert nvlink(head + "GPU0\t X \t0-15\t0\t\tN/A\n") == (
        "fail",
        "one GPU",
        "The guest has one GPU, which has no NVLink peer.",
    )
