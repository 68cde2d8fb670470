"""What is measured of a guest is what the check suite judges, and what could not be measured says why."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import judge
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes

from .healthy import KERNEL, LICENSED, SMI, TOPO, healthy, requested

# They run if the site requests them, see test_stack.py.
OF_STACK = ("guest.dcgm", "guest.gds", "guest.gds_read", "guest.dcgm_health")


def measure(guest, **changes):
    found, outputs = probes.measured(requested(**changes), guest, guest.files)
    return {one["check"]: one for one in found}, outputs


def test_a_guest_that_has_everything_passes_each_of_its_checks(tmp_path):
    found, _outputs = measure(healthy(tmp_path))
    assert {check: one["why"] for check, one in found.items() if one["status"] != "done"} == {}
    assert tuple(found) == tuple(check for check in probes.CHECKS if check not in OF_STACK)
    intent = {
        "guests": ["train-01"],
        "data_path": "sriov",
        "speed_gb": 100,
        "mtu": 9000,
        "addresses": {"train-01": "192.168.6.132"},
        "interfaces": {"train-01": "ens224"},
        "gpudirect": "enabled",
    }
    rows = judge.judge([dict(one, evidence="kept") for one in found.values()], intent)["rows"]
    reported = {row["check"]: (row["verdict"], row["why"]) for row in rows if row["check"] in found}
    reported.pop("guest.counters")  # nothing was sent
    bad = {check: one for check, one in reported.items() if one[0] != "pass" and check != "guest.licence"}
    assert bad == {}


@pytest.mark.parametrize(
    "check, values",
    [
        ("guest.address", {"interface": "ens224", "addresses": ["192.168.6.132"], "state": "up"}),
        ("guest.mtu", {"interface": "ens224", "mtu": 9000}),
        ("guest.memlock", {"soft_kb": -1, "hard_kb": -1, "user": "root"}),
        (
            "guest.counters",
            {"counters": {"out_of_sequence": 3, "rx_bytes": 12, "rx_discards_phy": 0, "tx_prio3_pause": 4}},
        ),
    ],
)
def test_values_of_a_check(tmp_path, check, values):
    assert measure(healthy(tmp_path))[0][check]["readings"] == values


def test_frames_that_nobody_listens_to_are_not_counted_as_drops(tmp_path):
    assert "rx_dropped" not in measure(healthy(tmp_path))[0]["guest.counters"]["readings"]["counters"]


def test_licence_and_address_are_reported_as_they_are(tmp_path):
    found, outputs = measure(healthy(tmp_path))
    assert found["guest.licence"]["readings"]["gpus"][0]["licence"] == "Licensed"
    assert (found["guest.gid"]["readings"]["gid"]["index"], found["guest.licence"]["variant"]) == (3, "before")
    assert "roce_v2" in found["guest.gid"]["readings"]["types"]
    assert LICENSED in outputs["guest.licence.before"]


WITHOUT = {
    "no nvidia-smi": (["nvidia-smi -q"], {}, "guest.licence", "missing", "The program nvidia-smi is missing."),
    "no chrony": (["chronyc"], {}, "guest.clock", "missing", "The program chronyc is missing."),
    "no log": (["journalctl"], {}, "guest.xid", "failed", "The program journalctl is missing."),
    "no driver": (
        [],
        {"nvidia-smi -q": (9, "No devices were found\n")},
        "guest.driver",
        "failed",
        None,
    ),
    "no login": (
        [],
        {"su -l": (1, "su: user does not exist")},
        "guest.memlock",
        "failed",
        "Cannot read the memlock limit of a login of root.",
    ),
}


BROKEN_OFF = {
    "the report of GPUs": ("guest.driver", "nvidia-smi -q", SMI.format(licence=LICENSED)),
    "the licence": ("guest.licence", "nvidia-smi -q", SMI.format(licence=LICENSED)),
    "errors of the memory": ("guest.ecc", "nvidia-smi -q", SMI.format(licence=LICENSED).partition("DRAM")[0]),
    "the topology": ("guest.topology", "nvidia-smi topo", TOPO),
    "the log": ("guest.xid", "journalctl", KERNEL),
}


@pytest.mark.parametrize("check, command, text", BROKEN_OFF.values(), ids=BROKEN_OFF.keys())
def test_a_program_that_did_not_come_to_its_end_has_no_values(tmp_path, check, command, text):
    found, _outputs = measure(healthy(tmp_path, {command: (-9, text)}))
    assert (found[check]["status"], found[check]["readings"]) == ("failed", {})
    assert found[check]["why"].startswith(f"`{command}")
    assert "exited with status -9" in found[check]["why"]


PEERS = """\
\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV12\tPHB\t0-7\t0\t\tN/A
GPU1\tNV12\t X \tPHB\t0-7\t0\t\tN/A
NIC0\tPHB\tPHB\t X \t\t\t\t
"""
STATUS = "GPU 0: A100 (UUID: GPU-0)\n\t Link 0: 25 GB/s\nGPU 1: A100 (UUID: GPU-1)\n\t Link 0: <inactive>\n"


@pytest.mark.parametrize(
    "answers, links",
    [
        (
            {"nvidia-smi topo": PEERS, "nvidia-smi nvlink": STATUS},
            {"GPU0": {"active": 1, "inactive": 0}, "GPU1": {"active": 0, "inactive": 1}},
        ),
        ({"nvidia-smi topo": PEERS, "nvidia-smi nvlink": (2, "Invalid combination of input arguments.")}, {}),
        ({}, None),
    ],
    ids=["two GPUs", "no such command", "one GPU"],
)
def test_the_links_of_several_gpus_are_read_after_their_topology(tmp_path, answers, links):
    found, outputs = measure(healthy(tmp_path, answers))
    one = found["guest.topology"]
    assert (one["status"], one["readings"].get("links"), one["command"][1]) == ("done", links, "topo")
    assert ("GPU 1: A100" in outputs["guest.topology"]) == bool(links)


ERRORS = """\
GPU 0: NVIDIA A100 80GB PCIe (UUID: {})
\t Link 0: Replay Errors: 2
\t Link 0: Recovery Errors: 0
\t Link 0: CRC Errors: 7

\t Link 11: Replay Errors: 1
\t Link 11: Recovery Errors: 1
\t Link 11: CRC Errors: 0
"""
BLACKWELL = """\
GPU 0: NVIDIA GB200 (UUID: {})
\t Link 0: Tx packets: 12345
\t Link 0: Rx Errors: 4
\t Link 0: Link recovery failed events: 1
\t Link 0: Total link recovery events: 3
\t Link 0: FEC Errors - 3: 175
"""


@pytest.mark.parametrize(
    "printed, errors",
    [
        (ERRORS, {"replays": 3, "recoveries": 1, "crc": 7}),
        (BLACKWELL, {"recoveries": 3}),
        ("GPU 0: NVIDIA A100 80GB PCIe\n\t Link 0: Replay Errors: 2\n", {}),
        ((2, "Invalid combination of input arguments."), {}),
    ],
    ids=["A100", "GB200", "no UUID", "no such command"],
)
def test_the_errors_of_all_nvlinks_of_a_gpu_are_read_with_its_memory_errors(tmp_path, printed, errors):
    said, uuid = SMI.format(licence=LICENSED), "GPU-3c2a5b10-0000-11ef-8000-000000000001"
    said += said[said.index("GPU 0000") :].replace(uuid, "GPU-2").replace("02:00.0", "03:00.0")
    printed = printed.format(uuid) if isinstance(printed, str) else printed
    found, outputs = measure(healthy(tmp_path, {"nvidia-smi -q": said, "nvidia-smi nvlink": printed}))
    one = found["guest.ecc"]
    assert (one["status"], one["command"]) == ("done", ["nvidia-smi", "-q"])
    assert [gpu["nvlink"] for gpu in one["readings"]["gpus"]] == [errors, {}]
    assert ("Link 0" in outputs["guest.ecc.before"]) == isinstance(printed, str)


def test_an_error_in_a_log_that_broke_off_is_shown(tmp_path):
    said = f"{KERNEL}2026-03-01T08:00:01+00:00 train-01 kernel: NVRM: Xid (PCI:0000:02:00): 48, pid=1\n"
    found, _outputs = measure(healthy(tmp_path, {"journalctl": (-9, said)}))
    assert [one["code"] for one in found["guest.xid"]["readings"]["xids"]] == [48]


@pytest.mark.parametrize("without, answers, check, status, why", WITHOUT.values(), ids=WITHOUT.keys())
def test_what_cannot_be_measured_says_why_and_has_no_values(tmp_path, without, answers, check, status, why):
    found, _outputs = measure(healthy(tmp_path, answers, without))
    assert (found[check]["status"], found[check]["readings"]) == (status, {})
    assert found[check]["why"] == why if why else found[check]["why"]
    assert found["guest.kernel"]["status"] == "done"


def test_tools_of_the_adapter_are_not_needed_for_its_counters(tmp_path):
    found, _outputs = measure(healthy(tmp_path, without=["ethtool -S"]))
    assert found["guest.counters"]["readings"]["counters"] == {"out_of_sequence": 3, "rx_bytes": 12}


def test_the_buffer_of_the_kernel_is_read_where_the_journal_has_nothing(tmp_path):
    said = "[   12.345678] NVRM: Xid (PCI:0000:02:00): 79, pid=1, GPU has fallen off the bus.\n"
    found, outputs = measure(healthy(tmp_path, {"journalctl": "-- No entries --\n", "dmesg": said}))
    assert [one["code"] for one in found["guest.xid"]["readings"]["xids"]] == [79]
    assert "Xid" in outputs["guest.xid.before"]


def test_only_lines_of_the_drivers_are_kept_of_the_log(tmp_path):
    kept = ["NVRM: up", "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 Fault"]
    lines = ["audit: password=hunter2", *kept]
    log = "".join(f"2026-03-01T08:00:01+00:00 train-01 kernel: {line}\n" for line in lines)
    _found, outputs = measure(healthy(tmp_path, {"journalctl": log}))
    assert "hunter2" not in outputs["guest.xid.before"]
    assert all(line in outputs["guest.xid.before"] for line in kept)


def test_containers_have_the_clock_of_their_machine(tmp_path):
    guest = healthy(tmp_path)
    guest.files.write("/.dockerenv", "")
    one = measure(guest)[0]["guest.clock"]
    assert (one["status"], one["why"]) == ("skipped", "The guest is a container, which uses the clock of its machine.")


def test_after_timed_runs_only_what_they_can_have_changed_is_measured(tmp_path):
    guest = healthy(tmp_path, {"nvidia-smi -q": SMI.format(licence="Unlicensed (Unrestricted)")})
    found, _outputs = measure(guest, phase="after")
    assert list(found) == ["guest.licence", "guest.xid", "guest.ecc", "guest.counters"]
    assert {check for check, one in found.items() if one["variant"] == "after"} == set(probes.WITH_PHASE)
    assert found["guest.licence"]["readings"]["gpus"][0]["licensed"] is False


@pytest.mark.parametrize(
    "changes, missing",
    [({"gpu": False}, "guest.licence"), ({"rdma": False}, "guest.gid"), ({"checks": ["guest.mtu"]}, "guest.kernel")],
)
def test_what_a_guest_does_not_have_is_not_asked(tmp_path, changes, missing):
    found, _outputs = measure(healthy(tmp_path), **changes)
    assert missing not in found
    assert "guest.mtu" in found


def test_results_of_simulated_devices_are_marked(tmp_path):
    found, _outputs = measure(healthy(tmp_path), simulated=["rdma"])
    assert {check for check, one in found.items() if one["simulated"]} == {
        *("guest.topology", "guest.gpudirect", "guest.modules", "guest.rdma_device", "guest.gid", "guest.counters"),
    }


@pytest.mark.parametrize(
    "mac, why",
    [
        (None, "The interface of the data path is unknown."),
        ("00:50:56:90:00:99", "No adapter has the MAC address 00:50:56:90:00:99 of the data path."),
    ],
)
def test_a_data_path_whose_interface_is_not_known_fails_what_needs_it(tmp_path, mac, why):
    found, _outputs = measure(healthy(tmp_path), interface="", mac=mac)
    assert {found[check]["why"] for check in ("guest.address", "guest.mtu", "guest.counters")} == {why}


def test_an_interface_that_is_gone_is_reported(tmp_path):
    guest = healthy(tmp_path, {"ip -4 -o addr show dev ens224": (1, 'Device "ens224" does not exist.')})
    assert measure(guest)[0]["guest.address"]["why"] == "The interface ens224 does not exist."
