"""ibv_devices, ibv_devinfo, rdma and ibstat: the same devices, in the layouts of rdma-core and iproute2."""

from __future__ import annotations

import json

from . import counters, devices, hardware, memory
from .calls import Answer, program

MTU_CODES = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
MST_KINDS = {
    0x1017: "ConnectX5",
    0x101B: "ConnectX6",
    0x101D: "ConnectX6DX",
    0x101F: "ConnectX6LX",
    0x1021: "ConnectX7",
}


def _usable(world, vm, guest):
    """Programs of libibverbs see devices only through ib_uverbs."""
    return devices.devices(world, vm, guest) if "ib_uverbs" in guest.loaded else []


@program("ibv_devices")
def ibv_devices(world, vm, call):
    lines = [f"    {'device':<16}\t   node GUID", f"    {'------':<16}\t----------------"]
    lines += [f"    {one.name:<16}\t{one.guid}" for one in _usable(world, vm, call.guest)]
    return Answer("\n".join(lines) + "\n")


@program("ibv_devinfo")
def ibv_devinfo(world, vm, call):
    found = _usable(world, vm, call.guest)
    words = call.words
    wanted = words[words.index("-d") + 1] if "-d" in words[:-1] else None
    if "-l" in words or "--list" in words:
        return Answer(f"{len(found)} HCAs found:\n" + "".join(f"\t{one.name}\n" for one in found) + "\n")
    if not found:
        return Answer(stderr="No IB devices found\n", status=255)
    if wanted is not None:
        found = [one for one in found if one.name == wanted]
        if not found:
            return Answer(stderr=f"IB device '{wanted}' wasn't found\n", status=255)
    verbose = "-v" in words or "--verbose" in words
    return Answer("\n".join(_devinfo(one, verbose) for one in found) + "\n")


@program("rdma")
def rdma(world, vm, call):
    flags = "".join(word[1:] for word in call.words if word.startswith("-"))
    words = [word for word in call.words if not word.startswith("-")]
    subject = words.pop(0) if words else ""
    if len(subject) > 1 and "statistic".startswith(subject):
        return counters.statistic(world, vm, call, words, "j" in flags)
    if words[:1] in (["show"], ["list"], ["sh"]):
        words.pop(0)
    found = devices.devices(world, vm, call.guest)
    if not subject or not ("link".startswith(subject) or "device".startswith(subject)):
        text = f'Unknown object "{subject}"' if subject else "Usage: rdma [ OPTIONS ] OBJECT { COMMAND | help }"
        return Answer(stderr=f"{text}.\n", status=22)
    if words:
        name = words[0].partition("/")[0]
        found = [one for one in found if one.name == name]
        if not found:
            return Answer(stderr="Wrong device name\n", status=237)
    if subject == "dev" or (subject != "link" and "device".startswith(subject)):
        return _rdma_devices(found, "j" in flags)
    return _rdma_links(found, "j" in flags)


@program("ibstat")
def ibstat(world, vm, call):
    """It reads umad devices: without ib_umad there is nothing [unsure: the words]."""
    found = devices.devices(world, vm, call.guest) if "ib_umad" in call.guest.loaded else []
    if "-l" in call.words:
        return Answer("".join(f"{one.name}\n" for one in found))
    names = [word for word in call.words if not word.startswith("-")]
    if names:
        found = [one for one in found if one.name == names[0]]
    if not found:
        return Answer(stderr="ibpanic: [0] main: stat of IB device failed\n" if names else "", status=255)
    return Answer("".join(_ibstat(one) for one in found))


@program("ofed_info")
def ofed_info(world, vm, call):
    package = call.guest.installed.get("doca-ofed", {})
    return Answer(f"OFED-internal-{package.get('version', '')}:\n")


@program("show_gids")
def show_gids(world, vm, call):
    lines = [
        "DEV     PORT    INDEX   GID                                     IPv4            VER     DEV",
        "---     ----    -----   ---                                     ------------    ---     ---",
    ]
    rows = 0
    for one in devices.devices(world, vm, call.guest):
        for index, (address, version) in enumerate(one.gids):
            mapped = str(address.ipv4_mapped or "")
            kind = "v2" if version == "RoCE v2" else "v1"
            lines.append(
                f"{one.name:<8}1       {index:<8}{devices.written(address):<40}{mapped:<16}{kind:<8}{one.netdev}"
            )
            rows += 1
    return Answer("\n".join([*lines, f"n_gids_found={rows}"]) + "\n")


@program("mst")
def mst(world, vm, call):
    """The guest's own firmware tools, for ports that it has in whole."""
    state = memory.of(vm)
    if call.guest.uid != 0:
        return Answer(stderr="-E- You must be root to use mst tool\n", status=1)
    if call.words == ["start"]:
        state.mst = True
        return Answer("Starting MST (Mellanox Software Tools) driver set\nLoading MST PCI module - Success\n")
    if call.words == ["stop"]:
        state.mst = False
        return Answer("Stopping MST (Mellanox Software Tools) driver set\nUnloading MST PCI module - Success\n")
    if call.words[:1] == ["status"]:
        if not state.mst:
            return Answer("MST modules:\n------------\n    MST PCI module is not loaded\n", status=1)
        rows = "".join(f"/dev/mst/{port.mst_name}\n" for port in hardware.ports_of(vm))
        return Answer(f"MST modules:\n------------\n    MST PCI module loaded\n\nMST devices:\n------------\n{rows}\n")
    return Answer(stderr="Usage: mst {start|stop|status}\n", status=1)


@program("mlxconfig")
def mlxconfig(world, vm, call):
    """The tool of the host, on the ports that the guest has: their firmware's configuration is the same one."""
    words, device = call.words, None
    if "-d" in words[:-1]:
        at = words.index("-d")
        device = words[at + 1]
        words = words[:at] + words[at + 2 :]
    agreed = "-y" in words
    words = [word for word in words if word not in ("-y", "--yes", "-e")]
    name = (device or "").rpartition("/")[2]
    port = next((one for one in hardware.ports_of(vm) if one.mst_name == name), None)
    if port is None or not memory.of(vm).mst:
        return Answer(stderr=f"-E- Failed to open the device: {device}: No such file or directory\n", status=3)
    if words[:1] not in (["query"], ["q"], ["set"], ["s"]):
        return Answer(stderr="-E- Unknown command or missing arguments.\n", status=1)
    known = {"ATS_ENABLED": "ats", "SRIOV_EN": "sriov"} if port.firmware.knows_ats else {"SRIOV_EN": "sriov"}
    kind = MST_KINDS.get(port.device_id, "ConnectX")
    head = f"\nDevice #1:\n----------\n\nDevice type:    {kind}\nDevice:         {device}\n\n"
    asked = [word.partition("=") for word in words[1:]]
    for parameter, _equals, _value in asked:
        if parameter not in known:
            return Answer(stderr=f"-E- The Device doesn't support {parameter} parameter\n", status=3)
    if words[0] in ("query", "q"):
        rows = [(one, _flag(getattr(port.firmware, f"next_{known[one]}"))) for one in [a[0] for a in asked] or known]
        text = "".join(f"        {one:<44}{value}\n" for one, value in rows)
        return Answer(f"{head}Configurations:{'':37}Next Boot\n{text}")
    if not agreed and call.again != "stdin":
        return Answer(f"{head} Apply new Configuration? (y/n) [n] : ", wants_stdin=True)
    if not agreed and call.stdin.strip().lower() not in ("y", "yes"):
        return Answer("\n-E- Aborted by user.\n", status=1)
    for parameter, _equals, value in asked:
        setattr(port.firmware, f"next_{known[parameter]}", value.lower() in ("1", "true"))
    world.touch(vm.host)
    return Answer(f"{head if agreed else ''}Applying... Done!\n-I- Please reboot machine to load new configurations.\n")


def _devinfo(one, verbose):
    function = one.function
    guid = ":".join(one.guid[at : at + 4] for at in range(0, 16, 4))
    rows = [
        ("transport", "InfiniBand (0)"),
        ("fw_ver", one.firmware),
        ("node_guid", guid),
        ("sys_image_guid", guid),
        ("vendor_id", f"0x{function.vendor_id:04x}"),
        ("vendor_part_id", function.device_id),
        ("hw_ver", "0x1" if function.pvrdma else "0x0"),
        ("board_id", one.board_id),
        ("phys_port_cnt", 1),
    ]
    text = f"hca_id:\t{one.name}\n" + "".join(_field(name, value, 1) for name, value in rows)
    text += "\t\tport:\t1\n"
    for name, value in (
        ("state", "PORT_ACTIVE (4)" if one.active else "PORT_DOWN (1)"),
        ("max_mtu", "4096 (5)"),
        ("active_mtu", f"{one.active_mtu} ({MTU_CODES[one.active_mtu]})"),
        ("sm_lid", 0),
        ("port_lid", 0),
        ("port_lmc", "0x00"),
        ("link_layer", "Ethernet"),
    ):
        text += _field(name, value, 3)
    if verbose:
        for index, (address, version) in enumerate(one.gids):
            text += f"\t\t\tGID[{index:3}]:\t\t{address}, {version}\n"
    return text


def _field(name, value, depth):
    """Put values of the device in one column and those of the port in another, with tabs."""
    column, at = (40, 8) if depth == 1 else (48, 24)
    tabs = (column - at - len(name) - 1 + 7) // 8
    return f"{chr(9) * depth}{name}:{chr(9) * tabs}{value}\n"


def _rdma_links(found, as_json):
    rows = []
    for number, one in enumerate(found):
        row = {"ifindex": number, "ifname": one.name, "port": 1}
        row |= {"state": "ACTIVE" if one.active else "DOWN"}
        row |= {"physical_state": "LINK_UP" if one.active else "DISABLED"}
        if one.netdev:
            row |= {"netdev": one.netdev}
        rows.append(row)
    if as_json:
        return Answer(json.dumps(rows) + "\n")
    return Answer(
        "".join(
            f"link {row['ifname']}/1 state {row['state']} physical_state {row['physical_state']} "
            + (f"netdev {row['netdev']} " if "netdev" in row else "")
            + "\n"
            for row in rows
        )
    )


def _rdma_devices(found, as_json):
    rows = []
    for number, one in enumerate(found):
        guid = ":".join(one.guid[at : at + 4] for at in range(0, 16, 4))
        row = {"ifindex": number, "ifname": one.name, "node_type": "ca", "fw": one.firmware}
        rows.append({**row, "node_guid": guid, "sys_image_guid": guid})
    if as_json:
        return Answer(json.dumps(rows) + "\n")
    return Answer(
        "".join(
            f"{row['ifindex']}: {row['ifname']}: node_type {row['node_type']} fw {row['fw']} "
            f"node_guid {row['node_guid']} sys_image_guid {row['sys_image_guid']} \n"
            for row in rows
        )
    )


def _ibstat(one):
    rows = [
        f"CA '{one.name}'",
        f"\tCA type: {one.hca_type}",
        "\tNumber of ports: 1",
        f"\tFirmware version: {one.firmware}",
        f"\tHardware version: {'1' if one.function.pvrdma else '0'}",
        f"\tNode GUID: 0x{one.guid}",
        f"\tSystem image GUID: 0x{one.guid}",
        "\tPort 1:",
        f"\t\tState: {'Active' if one.active else 'Down'}",
        f"\t\tPhysical state: {'LinkUp' if one.active else 'Disabled'}",
        f"\t\tRate: {one.rate.split()[0]}",
        "\t\tBase lid: 0",
        "\t\tLMC: 0",
        "\t\tSM lid: 0",
        "\t\tCapability mask: 0x04010000",
        f"\t\tPort GUID: 0x{one.guid}",
        "\t\tLink layer: Ethernet",
    ]
    return "\n".join(rows) + "\n"


def _flag(value):
    return f"{bool(value)}({int(value)})"
