"""RDMA devices are what their adapters, modules and interfaces make of them."""

from __future__ import annotations

import json

import pytest

DEVINFO = """\
hca_id:\tvmw_pvrdma0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t3.0.000
\tnode_guid:\t\t\t{guid}
\tsys_image_guid:\t\t\t{guid}
\tvendor_id:\t\t\t0x15ad
\tvendor_part_id:\t\t\t2080
\thw_ver:\t\t\t\t0x1
\tboard_id:\t\t\t1
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t1024 (3)
\t\t\tsm_lid:\t\t\t0
\t\t\tport_lid:\t\t0
\t\t\tport_lmc:\t\t0x00
\t\t\tlink_layer:\t\tEthernet

"""


def test_ibv_devinfo_is_laid_out_as_rdma_core_does_it(guest_of):
    machine = guest_of().boot()
    digits = [int(part, 16) for part in machine.vm.nics[1].macAddress.split(":")]
    eui = bytes([digits[0] ^ 2, *digits[1:3], 0xFF, 0xFE, *digits[3:]]).hex()
    guid = ":".join(eui[at : at + 4] for at in range(0, 16, 4))
    assert machine.run("ibv_devinfo") == (0, DEVINFO.format(guid=guid))


@pytest.mark.parametrize(
    "addresses, mtu, up, gids, state",
    [
        (["10.1.1.5/24"], 1500, True, ["fe80:", "0000:0000:0000:0000:0000:ffff:0a01:0105"], "4: ACTIVE"),
        ([], 1500, True, [], "4: ACTIVE"),
        (["10.1.1.5/24"], 1500, False, [], "1: DOWN"),
    ],
    ids=["address", "no address", "down"],
)
def test_the_gids_of_pvrdma_come_from_the_addresses_of_its_interface(guest_of, addresses, mtu, up, gids, state):
    machine = guest_of()
    machine.interface(1, machine.vm.nics[1].macAddress, addresses, mtu, up)
    tree = machine.boot().trees["/sys/class/infiniband"]
    port = "vmw_pvrdma0/ports/1"
    found = [tree[f"{port}/gids/{index}"].strip() for index in range(16)]
    used = [one for one in found if one.strip("0:")]
    assert len(used) == len(gids)
    assert all(one.startswith(start) for one, start in zip(used, gids, strict=True))
    assert tree[f"{port}/state"] == f"{state}\n"
    types = {text for path, text in tree.items() if "/gid_attrs/types/" in path}
    assert types == ({"RoCE v2\n"} if gids else set())


@pytest.mark.parametrize(
    "interface, switch, active", [(1500, 9000, 1024), (9000, 9000, 4096), (9000, 1500, 1024), (4200, 9000, 2048)]
)
def test_the_path_mtu_is_what_fits_on_the_interface_and_the_switch(guest_of, interface, switch, active):
    machine = guest_of()
    machine.interface(1, machine.vm.nics[1].macAddress, ["10.1.1.5/24"], interface)
    machine.boot()
    (dvs,) = machine.world.of_kind("VmwareDistributedVirtualSwitch")
    dvs.mtu = switch
    assert f"active_mtu:\t\t{active} (" in machine.run("ibv_devinfo")[1]


@pytest.mark.parametrize(
    "state, name",
    [({}, "vmw_pvrdma0"), ({"udev_rdma_names": True}, "rocep19s0f1")],
    ids=["the kernel's", "after rdma-core's rule"],
)
def test_the_name_is_given_when_the_device_appears(guest_of, state, name):
    machine = guest_of().boot(**state)
    machine.state["udev_rdma_names"] = True
    assert json.loads(machine.run("rdma", "-j", "link")[1])[0] == {
        "ifindex": 0,
        "ifname": name,
        "port": 1,
        "state": "ACTIVE",
        "physical_state": "LINK_UP",
        "netdev": "ens224",
    }


def test_no_adapter_no_device(guest_of):
    machine = guest_of(adapters=[]).boot()
    assert machine.run("ibv_devinfo") == (255, "No IB devices found\n")
    assert machine.run("rdma", "link") == (0, "")
    assert machine.files["/sys/class/infiniband"] is None
    assert machine.files["/dev/infiniband/uverbs0"] is None


def test_a_module_that_goes_takes_its_device_along(guest_of):
    machine = guest_of().boot()
    machine.run("modprobe", "-r", "vmw_pvrdma")
    assert machine.files["/sys/class/infiniband"] is None
    machine.run("modprobe", "vmw_pvrdma")
    assert "vmw_pvrdma0/node_guid" in machine.trees["/sys/class/infiniband"]


def test_a_virtual_function_of_a_connectx_has_both_versions_and_its_interface_below_it(guest_of):
    nics = [
        {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
        {"device": "vmnic1", "model": "cx6dx", "uplink_of": "dvs-rdma", "firmware": {"sriov": True, "num_vfs": 4}},
    ]
    host = {"nics": nics, "module_options": {"nmlx5_core": "max_vfs=4"}}
    machine = guest_of(host, adapters=[{"type": "sriov", "network": "pg-rdma"}]).boot()
    assert [line.split()[1] for line in machine.run("rdma", "link")[1].splitlines()] == ["mlx5_0/1"]
    kinds = [
        line.split()[5]
        for line in machine.run("show_gids")[1].splitlines()[2:]
        if line.startswith("mlx5_0") and "10.1" in line
    ]
    assert kinds == ["v1", "v2"]
    assert "0000:13:00.0/net/ens224/ifindex" in machine.trees["/sys/bus/pci/devices"]
