"""Outputs as drivers, terminals and broken hardware vary them; none of it was captured as it stands here."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify, inventory, listing, outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

from .samples import read

INSTANCES = "h100-sxm80_580.173.02_mig-2x1g__lgi"
PERSISTENCE = (
    "\nWarning: persistence mode is disabled on device 00000000:0F:00.0. See the Known Issues section of the "
    "nvidia-smi(1) man page for more information.\n"
)


def profile_table(gpu, width):
    """What -lgip prints for a kind of GPU, in one of the widths of the drivers."""
    frame = "+" + "-" * (width - 2) + "+\n"
    text = frame + "| GPU instance profiles:".ljust(width - 1) + "|\n" + "|" + "=" * (width - 2) + "|\n"
    for one in gpu.profiles:
        first = (
            f"|   0  MIG {one.name:<16} {one.id:>3} {0:>5}/{one.max_instances} {one.memory_gib or 0:>12.2f} "
            f"     No {one.sm or 0:>6} {one.dec or 0:>5} {one.enc or 0:>5}"
        )
        second = f"|{one.ce or 0:>61} {one.jpeg or 0:>5} {one.ofa or 0:>5}"
        text += f"{first.ljust(width - 1)}|\n{second.ljust(width - 1)}|\n{frame}"
    return text


def placement_lines(gpu):
    return "".join(
        f"GPU  0 Profile ID {one.id:>2} Placement{'s' if len(one.starts) > 1 else ' '}: "
        f"{{{','.join(map(str, one.starts))}}}:{one.size}\n"
        for one in gpu.profiles
    )


@pytest.mark.parametrize("width", [76, 79, 81, 90])
@pytest.mark.parametrize("key", [key for key, gpu in GPUS.items() if gpu.profiles])
def test_the_tables_of_every_gpu_describe_it_in_every_width(key, width):
    gpu = GPUS[key]
    listed = listing.profiles(profile_table(gpu, width))
    stranger = FoundGpu(0, "NVIDIA X1", "GPU-1", "0000:0f:00.0", 0xFFFF, None, True, True)
    table = identify.device_table(stranger, None, listed, listing.placements(placement_lines(gpu)))
    assert [
        (one.name, one.key, one.id, one.compute_slices, one.size, one.starts, one.max_instances)
        for one in table.profiles
    ] == [
        (one.name, one.key, one.id, one.compute_slices, one.size, one.starts, one.max_instances) for one in gpu.profiles
    ]
    assert (table.memory_slots, table.compute_slices) == (gpu.memory_slots, gpu.compute_slices)


def test_rows_of_two_gpus_keep_apart():
    one = read(INSTANCES)
    both = one + one.replace("|   0  MIG", "|  11  MIG")
    assert [row.gpu for row in listing.instances(both)] == [0, 0, 11, 11]


@pytest.mark.parametrize("around", [lambda text: PERSISTENCE + text, lambda text: text + PERSISTENCE])
def test_a_warning_before_or_behind_a_table_changes_nothing(around):
    for parse, name in (
        (listing.instances, INSTANCES),
        (listing.profiles, "h100-sxm80_580.173.02_mig-off__lgip"),
        (listing.compute_instances, "h100-sxm80_580.173.02_mig-2x1g__lci"),
        (listing.placements, "h100-80__lgipp"),
    ):
        assert parse(around(read(name))) == parse(read(name))
    assert outcome.reason(around(read("mode__enabled")), 0) is None


def test_figures_that_a_driver_does_not_report_are_unknown():
    row = "|   0  MIG 1g.18gb        19     N/A/7      [N/A]      No     16    N/A     0   |\n"
    (profile,) = listing.profiles(row + "|                                  1     N/A    [N/A]  |\n")
    assert (profile.id, profile.total, profile.memory_gib, profile.dec, profile.enc) == (19, 7, None, None, 0)
    assert (profile.ce, profile.jpeg, profile.ofa) == (1, None, None)


def test_a_row_that_is_cut_off_is_an_error_and_no_empty_gpu():
    with pytest.raises(ValueError, match="unpack"):
        listing.instances("|   0  MIG 1g.10gb         19  \n")


@pytest.mark.parametrize(
    "text, modes",
    [
        ("Enabled, Disabled\r\n", (True, False)),
        (PERSISTENCE + "Disabled, Disabled\n", (False, False)),
        ("mig.mode.current, mig.mode.pending\nEnabled, Enabled\n", (True, True)),
        ("[N/A], [N/A]\n", (None, None)),
    ],
)
def test_the_modes_are_found_among_other_lines(text, modes):
    assert listing.modes(text) == modes


@pytest.mark.parametrize("text", ["", "[Unknown Error], [Unknown Error]\n", "Enabled\n", "GPU is lost\n"])
def test_an_unknown_mode_is_an_error_and_no_gpu_without_mig(text):
    with pytest.raises(ValueError, match="no row reports"):
        listing.modes(text)


@pytest.mark.parametrize(
    "text, rc, reason",
    [
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", 12, "driver_not_loaded"),
        ("Failed to initialize NVML: Driver/library version mismatch", 18, "driver_mismatch"),
        ("Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.", 15, "gpu_lost"),
        ("Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error", 255, "unknown_error"),
        ("GPU requires reset", 16, "reset_required"),
        ("sh: nvidia-smi: not found", 127, "nvidia_smi_missing"),
        ("", 19, "in_use"),
        ("", 1, "failed"),
    ],
)
def test_a_host_in_trouble_is_reported_from_one_without_gpus(text, rc, reason):
    assert outcome.reason(text, rc) == reason


def document(mode="Enabled", attached=1, virtualization="None"):
    return (
        f"<nvidia_smi_log><driver_version>595.10</driver_version><attached_gpus>{attached}</attached_gpus>"
        f"<gpu id='00000000:0F:00.0'><mig_mode><current_mig>{mode}</current_mig><pending_mig>{mode}</pending_mig>"
        f"</mig_mode><gpu_virtualization_mode><virtualization_mode>{virtualization}</virtualization_mode>"
        "</gpu_virtualization_mode></gpu></nvidia_smi_log>"
    )


@pytest.mark.parametrize("name", ["job\x01\x7f", "\udcff\udcfe", "\ufffe", "\x1b[31mjob"])
def test_a_process_name_of_any_bytes_does_not_damage_the_document(name):
    process = f"<processes><process_info><pid>7</pid><process_name>{name}</process_name></process_info></processes>"
    (gpu,) = inventory.parse(document().replace("</gpu>", f"{process}</gpu>")).gpus
    assert [(one.pid, "?" in one.name) for one in gpu.processes] == [(7, True)]


def test_a_document_is_found_between_warnings():
    found = inventory.parse(PERSISTENCE + document(attached=4) + "\r\n> press any key <\r\n")
    assert (len(found.gpus), found.attached, found.driver_branch) == (1, 4, 595)


@pytest.mark.parametrize(
    "mode, mig, trouble", [("Enabled", True, ""), ("N/A", None, ""), ("GPU is lost", None, "GPU is lost")]
)
def test_a_gpu_that_does_not_answer_is_reported_from_one_without_mig(mode, mig, trouble):
    (gpu,) = inventory.parse(document(mode)).gpus
    assert (gpu.mig, gpu.trouble) == (mig, trouble)


@pytest.mark.parametrize(
    "virtualization, guest, passed",
    [("VGPU", True, False), ("Pass-Through", False, True), ("Host VGPU", False, False), ("None", False, False)],
)
def test_a_vgpu_and_a_gpu_of_a_vm_are_reported_apart(virtualization, guest, passed):
    (gpu,) = inventory.parse(document(virtualization=virtualization)).gpus
    assert (gpu.guest, gpu.passed_through) == (guest, passed)


@pytest.mark.parametrize(
    "branch, ids", [(450, [19, 14, 9, 5, 0]), (470, [19, 20, 14, 9, 5, 0]), (None, [19, 20, 15, 14, 9, 5, 0])]
)
def test_where_a_device_lists_nothing_only_profiles_of_its_driver_are_planned(branch, ids):
    gpu = FoundGpu(0, "NVIDIA A100-PCIE-40GB", "GPU-1", "0000:0f:00.0", 0x20F1, None, False, False)
    table = identify.device_table(gpu, GPUS["a100_40gb"], [], [], driver_branch=branch)
    assert [one.id for one in table.profiles] == ids


def test_a_warning_behind_the_version_of_the_driver_is_no_part_of_it():
    warned = document().replace("595.10<", "610.10.01 [Deprecated; will be removed]<")
    assert (inventory.parse(warned).driver_version, inventory.parse(warned).driver_branch) == ("610.10.01", 610)
