"""guest_roce_info on Linux systems with different tools: a real shell, and outputs of real tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from .linux_host import LinuxHost

SAMPLES = Path(__file__).parents[1] / "unit/plugins/module_utils/fabric/samples/linux_host"
BASE = {
    "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0": "ens192",
    "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0": "RoCE v2",
    "/sys/class/net/ens192/mtu": "9000",
    "/sys/class/net/ens192/speed": "100000",
    "/sys/class/net/ens192/operstate": "up",
    "/sys/class/net/lo/mtu": "65536",
    "/sys/class/net/ens192/device/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:0b:00.0",
}
OFED = {
    "/sys/class/infiniband/mlx5_0/tc/1/traffic_class": "Global tclass=106",
    **{f"/sys/class/net/ens192/ecn/roce_np/enable/{priority}": "1" for priority in range(8)},
    **{f"/sys/class/net/ens192/ecn/roce_rp/enable/{priority}": "1" for priority in (3, 4)},
    "/sys/class/net/ens192/ecn/roce_np/cnp_dscp": "48",
    "/sys/class/net/ens192/ecn/roce_np/cnp_802p_prio": "6",
}
PAUSES = "Pause parameters for ens192:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff"
LLDP = (
    "Chassis ID TLV\n\tMAC: 44:4c:a8:00:00:01\nPort ID TLV\n\tIfname: Ethernet1\nTime to Live TLV\n\t120\n"
    "System Name TLV\n\tleaf-01\nEnd of LLDPDU TLV"
)


def sample(name):
    return (SAMPLES / name).read_text()


def ofed(dcbx="os_controlled_trust_dscp_pfc3"):
    return {"mlnx_qos -i ens192": sample(f"mlnx_qos_{dcbx}.txt"), "ethtool -a ens192": PAUSES}


@pytest.fixture
def look(tmp_path):
    """What the module reports of a system with these files and tools."""

    def run(files, tools, **params):
        host = LinuxHost(tmp_path / "linux", {**BASE, **files}, tools)
        answer = host.act("guest_roce_info", params)
        assert not answer["failed"], answer["msg"]
        assert answer["changed"] is False
        return answer["guest"]

    return run


def seen(port, *keys):
    return {key: port[key] for key in keys}


DEBUG = "/sys/kernel/debug/mlx5/0000:0b:00.0/cc_params/np_cnp"
PCI = {"/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:0b:00.0"}


@pytest.mark.parametrize(
    "files, reported",
    [
        ({f"{DEBUG}_dscp": "48", f"{DEBUG}_prio": "6", f"{DEBUG}_prio_mode": "0"}, (48, 6)),
        ({f"{DEBUG}_dscp": "4", f"{DEBUG}_prio": "6", f"{DEBUG}_prio_mode": "1"}, (4, None)),
        # The interface of a function may have no device of its own, and its RDMA device has.
        ({f"{DEBUG}_dscp": "48", "/sys/class/net/ens192/device/uevent": "", **PCI}, (48, None)),
        ({**OFED, f"{DEBUG}_dscp": "4"}, (48, 6)),
    ],
    ids=["inbox", "the priority of the marked packet", "by the RDMA device", "OFED comes first"],
)
def test_notifications_are_read_from_the_kernels_own_driver(look, files, reported):
    (port,) = look(files, {})["ports"]
    assert (port["driver"], port["cnp_dscp"], port["cnp_priority"]) == ("mlx5_core", *reported)


def test_an_adapter_with_the_tools_of_its_vendor_is_reported_in_full(look):
    guest = look(OFED, ofed())
    (port,) = guest["ports"]
    assert seen(port, "name", "rdma", "driver", "mtu", "speed", "up") == {
        "name": "ens192",
        "rdma": "mlx5_0",
        "driver": "mlx5_core",
        "mtu": 9000,
        "speed": 100,
        "up": True,
    }
    assert seen(port, "trust", "pfc", "pfc_sends", "ecn", "cnp_dscp", "cnp_priority", "pause", "dcbx_owner") == {
        "trust": "dscp",
        "pfc": [3],
        "pfc_sends": [3],
        "ecn": [3, 4],
        "cnp_dscp": 48,
        "cnp_priority": 6,
        "pause": False,
        "dcbx_owner": "os",
    }
    assert port["dscp_map"]["26"] == 3
    assert port["marks"] == [{"by": "the adapter's traffic_class", "traffic_class": 106}]
    assert "mlnx_qos" in guest["tools"]


def test_settings_that_the_firmware_owns_are_reported_as_its_own(look):
    (port,) = look(OFED, ofed("dcbx_fw_controlled_cx5"))["ports"]
    assert seen(port, "dcbx_owner", "cable_length_m", "pfc") == {
        "dcbx_owner": "firmware",
        "cable_length_m": 7,
        "pfc": [3],
    }


def test_an_adapter_is_reported_by_the_tool_of_the_kernel_alone(look):
    tools = {
        "dcb -j pfc show dev ens192": '{"pfc_cap":8,"macsec_bypass":false,"delay":0,'
        '"prio_pfc":[false,false,false,true,false,false,false,false]}',
        "dcb -j app show dev ens192": '{"dscp_prio":[[26,3," "],[48,6," "]]}',
        "dcb -j dcbx show dev ens192": '{"host":true,"ieee":true}',
        "dcb -j apptrust show dev ens192": ('Object "apptrust" is unknown', 1),
        "ethtool -a ens192": PAUSES,
    }
    (port,) = look({}, tools)["ports"]
    assert seen(port, "trust", "pfc", "dscp_map", "dcbx", "dcbx_owner", "marks", "ecn", "not_read") == {
        "trust": "dscp",
        "pfc": [3],
        "dscp_map": {"26": 3, "48": 6},
        "dcbx": "ieee",
        "dcbx_owner": "os",
        "marks": None,
        "ecn": None,
        "not_read": [],
    }


def test_a_guest_that_owns_no_flow_control_says_so_and_claims_nothing(look):
    refused = ("Attribute read: Operation not supported", 1)
    (port,) = look({}, {"dcb -j": refused, "ethtool -a ens192": ("netlink error: Operation not supported", 1)})["ports"]
    assert seen(port, "pfc", "trust", "pause") == {"pfc": None, "trust": None, "pause": None}
    assert port["not_read"] == [
        "dcb pfc: Attribute read: Operation not supported",
        "dcb app: Attribute read: Operation not supported",
    ]


def test_what_jobs_and_rdma_cm_put_on_packets_is_reported_with_who_does(look):
    files = {
        "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos": "104",
        "/etc/nccl.conf": "# ours\nNCCL_IB_TC=106\nNCCL_IB_GID_INDEX=3",
    }
    (port,) = look(files, {}, traffic_class=106)["ports"]
    assert port["marks"] == [
        {"by": "rdma_cm", "traffic_class": 104},
        {"by": "/etc/nccl.conf", "traffic_class": 106},
        {"by": "jobs", "traffic_class": 106},
    ]


def test_nobody_marks_is_another_thing_than_nobody_could_be_asked(look):
    (port,) = look({"/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos": "0"}, {})["ports"]
    assert port["marks"] == []


def test_the_switch_is_seen_by_the_agent_of_lldp(look):
    (port,) = look({}, {"lldptool -t -n -i ens192": LLDP})["ports"]
    assert port["agents"] == ["lldpad"]
    assert port["lldp"] == [
        {"system": "leaf-01", "port": "Ethernet1", "chassis": "44:4c:a8:00:00:01", "description": None}
    ]


def test_an_adapter_of_broadcom_is_reported_by_its_own_tool(look):
    files = {"/sys/class/net/ens192/device/uevent": "DRIVER=bnxt_en"}
    tools = {"niccli -dev ens192 get_qos": sample("niccli_get_qos_bnxt_thor2.txt")}
    (port,) = look(files, tools)["ports"]
    assert seen(port, "pfc", "dscp_map", "trust") == {"pfc": [3], "dscp_map": {"26": 3, "48": 7}, "trust": "dscp"}


def test_a_tool_without_rights_is_reported_and_its_answer_is_not_made_up(look):
    (port,) = look({}, {"mlnx_qos -i ens192": ("Netlink error: Operation not permitted", 1)})["ports"]
    assert port["pfc"] is None
    assert "mlnx_qos: Netlink error: Operation not permitted" in port["not_read"]


def test_a_system_without_rdma_has_nothing_to_check(tmp_path):
    host = LinuxHost(tmp_path / "linux", {"/sys/class/net/eth0/mtu": "1500"}, {})
    guest = host.act("guest_roce_info", {})["guest"]
    assert guest["ports"] == []
    assert guest["not_read"] == ["The guest has no adapter with RDMA, so no adapter was checked."]


def test_an_adapter_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    host = LinuxHost(tmp_path / "linux", BASE, {})
    answer = host.act("guest_roce_info", {"interfaces": ["ens999"]})
    assert answer["failed"]
    assert answer["failure"]["code"] == "no_such_adapter"
    assert "RDMA is on ens192." in answer["msg"]


def test_one_command_looks_around_and_one_asks_each_adapter(tmp_path):
    host = LinuxHost(tmp_path / "linux", {**BASE, **OFED}, ofed())
    host.act("guest_roce_info", {})
    assert len(host.commands) == 2
