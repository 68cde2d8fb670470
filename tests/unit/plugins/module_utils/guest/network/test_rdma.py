# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""RDMA out of the files of a kernel: ports with and without an address, adapters of each make, and nothing at all."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import rdma

from .world import Guest

# As the kernel writes them; unused lines of the table have attributes that cannot be read.
GIDS = {
    0: ("fe80:0000:0000:0000:9640:c9ff:fe8c:a09c", "IB/RoCE v1"),
    1: ("fe80:0000:0000:0000:9640:c9ff:fe8c:a09c", "RoCE v2"),
    2: ("0000:0000:0000:0000:0000:ffff:c0a8:0684", "IB/RoCE v1"),
    3: ("0000:0000:0000:0000:0000:ffff:c0a8:0684", "RoCE v2"),
    4: ("0000:0000:0000:0000:0000:0000:0000:0000", None),
}


def device(files, name, pci=("0x15b3", "0x101d"), gids=None, state="4: ACTIVE"):
    folder = f"{rdma.DEVICES}/{name}"
    if pci:
        files.write(f"{folder}/device/vendor", f"{pci[0]}\n")
        files.write(f"{folder}/device/device", f"{pci[1]}\n")
        files.write(f"{folder}/device/numa_node", "-1\n")
    else:
        files.write(f"{folder}/parent", "ens224\n")
    port = f"{folder}/ports/1"
    for key, value in (("state", state), ("phys_state", "5: LinkUp"), ("rate", "100 Gb/sec (4X EDR)")):
        files.write(f"{port}/{key}", f"{value}\n")
    files.write(f"{port}/link_layer", "Ethernet\n")
    for index, (gid, kind) in (GIDS if gids is None else gids).items():
        files.write(f"{port}/gids/{index}", f"{gid}\n")
        if kind:
            files.write(f"{port}/gid_attrs/types/{index}", f"{kind}\n")
            files.write(f"{port}/gid_attrs/ndevs/{index}", "ens224\n")


@pytest.fixture
def files(tmp_path):
    made = Files(str(tmp_path))
    made.write("/sys/class/net/ens224/mtu", "9000\n")
    return made


def test_a_port_is_reported_whole(files):
    device(files, "mlx5_0")
    files.write(f"{rdma.VERBS}/uverbs0/ibdev", "mlx5_0\n")
    files.write("/dev/infiniband/uverbs0", "")
    (found,) = rdma.devices(files)
    (port,) = found.pop("ports")
    assert (found["pci_id"], found["module"], found["provider"]) == ("15b3:101d", "mlx5_ib", "mlx5")
    assert (found["device_files"], found["numa_node"]) == (["/dev/infiniband/uverbs0"], None)
    assert (port["state"], port["physical_state"], port["rate_gbps"]) == ("active", "linkup", 100)
    assert (port["mtu"], port["path_mtu"], port["interfaces"]) == (9000, 4096, ["ens224"])
    assert [gid["index"] for gid in port["gids"]] == [0, 1, 2, 3]
    assert (port["roce_v2_gid"]["index"], port["roce_v2_gid"]["address"]) == (3, "192.168.6.132")


def test_a_port_without_an_address_has_no_gid_for_roce_v2(files):
    device(files, "mlx5_1", gids={0: GIDS[0], 1: GIDS[1]}, state="1: DOWN")
    (port,) = rdma.devices(files)[0]["ports"]
    assert (port["state"], port["roce_v2_gid"]) == ("down", None)


def test_a_port_without_gids_belongs_to_no_adapter(files):
    device(files, "vmw_pvrdma0", gids={0: GIDS[4]})
    assert rdma.device_of(rdma.devices(files), "ens224") == (None, None)


@pytest.mark.parametrize(
    "pci, module",
    [
        pytest.param(("0x15ad", "0x0820"), "vmw_pvrdma", id="PVRDMA"),
        pytest.param(("0x14e4", "0x1750"), "bnxt_re", id="Broadcom"),
        pytest.param(("0x1234", "0x0001"), None, id="unknown"),
        pytest.param(None, "rdma_rxe", id="Soft-RoCE"),
    ],
)
def test_a_device_reports_its_module(files, pci, module):
    device(files, "one", pci)
    assert rdma.devices(files)[0]["module"] == module


@pytest.mark.parametrize("where", ["/proc/modules", "/sys/module/nvidia_peermem/version"])
def test_peermem_is_found_by_its_name_with_an_underscore(files, where):
    files.write(where, "nvidia_peermem 16384 0 - Live 0x0\n")
    assert rdma.loaded(files) == ["nvidia_peermem"]


def test_an_open_driver_is_reported_by_its_version(files):
    assert rdma.gpudirect(files)["open_module"] is None
    files.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n")
    assert rdma.gpudirect(files)["open_module"] is True


@pytest.mark.parametrize(
    "answer, limit",
    [
        ("unlimited\nunlimited\n", {"soft_kb": -1, "hard_kb": -1}),
        ("Welcome!\n64\n8192\n", {"soft_kb": 64, "hard_kb": 8192}),
        ((1, "su: user x does not exist"), None),
        ((1, "64\n64\n"), None),
        ("unlimited\n", None),
        ("64\nhard\n", None),
    ],
)
def test_what_a_login_may_lock(tmp_path, answer, limit):
    assert rdma.memlock(Guest(tmp_path, {"su -l x": answer}), "x") == limit


def test_drivers_in_user_space_are_found_where_distributions_put_them(files):
    files.write("/usr/lib/x86_64-linux-gnu/libibverbs/libvmw_pvrdma-rdmav34.so", "")
    files.write("/usr/lib64/libibverbs/libmlx5-rdmav57.so", "")
    assert rdma.providers(files) == ["mlx5", "vmw_pvrdma"]


def test_gpus_and_their_numa_nodes(files):
    for name, value in (("vendor", "0x10de"), ("class", "0x030200"), ("numa_node", "1")):
        files.write(f"/sys/bus/pci/devices/0000:02:00.0/{name}", f"{value}\n")
    files.write("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x15b3\n")
    files.write("/sys/devices/system/node/node0/cpulist", "0-7\n")
    assert rdma.numa(files) == {"nodes": [0], "gpus": [{"address": "0000:02:00.0", "node": 1}]}


BY_OFED = "version:        24.10-1.1.4\nsrcversion:     AAAA\n"


@pytest.mark.parametrize(
    "loaded, on_disk, outdated",
    [
        pytest.param(None, BY_OFED, [], id="not loaded"),
        pytest.param({}, BY_OFED, ["mlx5_core"], id="the distribution's is loaded, OFED's installed"),
        pytest.param({"version": "24.10-1.1.4", "srcversion": "AAAA"}, BY_OFED, [], id="OFED's is loaded"),
        pytest.param({"version": "24.10-1.1.4", "srcversion": "BBBB"}, BY_OFED, ["mlx5_core"], id="built anew"),
        pytest.param({"version": "23.10", "srcversion": "AAAA"}, BY_OFED, ["mlx5_core"], id="another release"),
        pytest.param({"srcversion": "CCCC"}, "srcversion:     CCCC\n", [], id="the distribution's, without a version"),
        pytest.param({}, "filename:       (builtin)\n", [], id="part of the kernel"),
        pytest.param({"version": "23.10"}, (1, ""), [], id="no file"),
    ],
)
def test_what_is_loaded_is_compared_with_what_a_restart_would_load(files, tmp_path, loaded, on_disk, outdated):
    for field, text in {"initstate": "live", **loaded}.items() if loaded is not None else ():
        files.write(f"/sys/module/mlx5_core/{field}", f"{text}\n")
    guest = Guest(tmp_path, answers={"modinfo mlx5_core": on_disk})
    assert rdma.outdated(files, guest) == outdated


def test_each_kind_of_gid_has_its_name(files):
    kinds = {0: "IB/RoCE v1", 1: "RoCE v2", 2: "IB"}
    device(files, "mlx5_0", gids={index: (GIDS[2][0], kind) for index, kind in kinds.items()})
    (port,) = rdma.devices(files)[0]["ports"]
    assert [gid["type"] for gid in port["gids"]] == ["roce_v1", "roce_v2", "ib"]


def test_the_layer_of_a_port_is_in_small_letters_and_may_be_unknown(files):
    device(files, "mlx5_0")
    assert rdma.devices(files)[0]["ports"][0]["link_layer"] == "ethernet"
    files.write(f"{rdma.DEVICES}/mlx5_0/ports/1/link_layer", "")
    assert rdma.devices(files)[0]["ports"][0]["link_layer"] is None


def test_a_device_without_vendor_and_parent_is_of_no_known_kind(files):
    device(files, "one", pci=None)
    files.remove(f"{rdma.DEVICES}/one/parent")
    assert [rdma.devices(files)[0][key] for key in ("module", "provider", "pci_id")] == [None, None, None]


@pytest.mark.parametrize(
    "answer, version",
    [
        ("MLNX_OFED_LINUX-24.10-1.1.4.0:\n", "MLNX_OFED_LINUX-24.10-1.1.4.0"),
        ("\n", None),
        ((127, "ofed_info: command not found"), None),
    ],
)
def test_the_version_of_ofed_comes_without_its_colon(tmp_path, answer, version):
    assert rdma.ofed(Guest(tmp_path, {"ofed_info -s": answer})) == version


@pytest.mark.parametrize(
    "release, possible",
    [("5.11.22-generic", False), ("5.12.0", True), ("4.18.0-553.el8", False), ("6.1.0", True), ("unknown", False)],
)
def test_a_kernel_has_dma_buf_from_5_12_on(files, monkeypatch, release, possible):
    monkeypatch.setattr(rdma.os, "uname", lambda: SimpleNamespace(release=release))
    assert rdma.gpudirect(files)["kernel_dmabuf"] is possible


@pytest.mark.parametrize("name", ["nvidia_peermem", "nv_peer_mem"])
def test_peermem_comes_with_its_version_where_it_is_loaded(files, name):
    found = rdma.gpudirect(files)
    assert (found["peermem"], found["peermem_version"]) == (None, None)
    files.write(f"/sys/module/{name}/version", "570.86.15\n")
    found = rdma.gpudirect(files)
    assert (found["peermem"], found["peermem_version"]) == (name, "570.86.15")


def test_a_device_that_reports_only_half_of_its_id_has_none(files):
    device(files, "one", ("0x15b3", ""))
    assert rdma.devices(files)[0]["pci_id"] is None


def test_the_mtu_of_a_port_is_that_of_its_first_interface(files):
    device(files, "mlx5_0", gids={0: GIDS[3], 1: GIDS[3]})
    files.write(f"{rdma.DEVICES}/mlx5_0/ports/1/gid_attrs/ndevs/1", "ens224.100\n")
    files.write("/sys/class/net/ens224.100/mtu", "1500\n")
    (port,) = rdma.devices(files)[0]["ports"]
    assert (port["interfaces"], port["mtu"], port["path_mtu"]) == (["ens224", "ens224.100"], 9000, 4096)
    assert port["roce_v2_gid"]["index"] == 0
