"""Hardware of a host, from a seed: GPUs, network cards, and the PCI bridges above them."""

from __future__ import annotations

import re

from . import mig, nvlink
from .adapters import Firmware, Nic
from .catalogue import board
from .dvx import DvxClass
from .fabric import Portgroup
from .gpu import Gpu
from .host import Passthru, StandardSwitch, VmkernelNic
from .pci import MELLANOX, Bridge, Slot
from .seed_file import SeedError, line_of, within

MANAGEMENT_SWITCH = "vSwitch0"
STANDARD_SWITCH = re.compile(r"vSwitch\d+")
ROOT_PORT = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
NVSWITCH = "0000:c0:{:02x}.0"
FIRST_NIC_BUS = (0x4A, 0x98)  # on the first socket, and on the others
DEFAULT_NICS = (
    {"device": "vmnic0", "model": "cx6dx", "uplink_of": MANAGEMENT_SWITCH},
    {"device": "vmnic1", "model": "cx6dx"},
)


def furnish(host, entry, switches):
    """GPUs, ports, bridges and switches of a host; switches are the datacenter's distributed ones by name."""
    tree = _Tree(host)
    for row in entry.get("bridges", []):
        host.bridges.append(
            Bridge(row["address"], row.get("parent", ""), row.get("numa_node", 0), row.get("name", "PCIe Root Port"))
        )
    host.nvswitches = [NVSWITCH.format(number) for number in range(entry.get("nvswitches", 0))]
    host.fabric_manager = entry.get("fabric_manager", True)
    for gpu in entry.get("gpus", []):
        with within(gpu):
            for _number in range(gpu.get("count", 1)):
                _gpu(host, tree, gpu)
    _refuse_bridges(host)
    host.standard_switches = [
        StandardSwitch(
            row["name"], row.get("mtu", 1500), [(one["name"], one.get("vlan", 0)) for one in row["portgroups"]]
        )
        for row in entry.get("standard_switches", [])
    ] or [StandardSwitch(MANAGEMENT_SWITCH, portgroups=[("Management Network", 0)])]
    rows = entry.get("nics") or _default_nics(switches)
    for position, row in enumerate(rows):
        with within(row):
            _nic(host, tree, position, row, switches)
    _name_for_mst(host)
    _refuse_overlap(host)


def vmkernel(host, entry, networks):
    """The vmkernel ports: vmk0 for management, and those of the seed."""
    rows = entry.get("vmkernel", [])
    if not any(row["device"] == "vmk0" for row in rows):
        rows = [{"device": "vmk0", "services": ["management", "vmotion"]}, *rows]
    for position, row in enumerate(rows):
        group = _portgroup(host, row, networks)
        host.vmkernel.append(
            VmkernelNic(
                device=row["device"],
                ip=row.get("ip", _address(host.number, position)),
                netmask=row.get("netmask", "255.255.0.0"),
                mac=row.get("mac") or (_mac(host.number, 0x60 + position) if position else host.ports[0].mac),
                portgroup="" if group is not None else row.get("network", "Management Network"),
                services=tuple(row.get("services", ())),
                mtu=row.get("mtu", 1500),
                dv_portgroup=group,
            )
        )


def _refuse_overlap(host):
    taken = [*(one.address for one in host.bridges), *host.nvswitches]
    taken += [*(gpu.pci_id for gpu in host.gpus), *(nic.pci for nic in host.ports)]
    twice = sorted({address for address in taken if taken.count(address) > 1})
    if twice:
        raise SeedError(
            [f"Host {host.name}: more than one device would be at {', '.join(twice)}; choose another root."]
        )


def _portgroup(host, row, networks):
    if "portgroup" not in row:
        return None
    group = networks.get(row["portgroup"])
    if not isinstance(group, Portgroup):
        words = f"Host {host.name}, {row['device']}: there is no distributed port group {row['portgroup']!r}."
        raise SeedError([words]).at(line_of(row, "portgroup"))
    return group


class _Tree:
    """Hands out PCI addresses and makes the bridges above them."""

    def __init__(self, host):
        self.host = host
        self.cards_below = {}  # root port: cards behind its PCIe switch

    def slot(self, address, root, numa_node):
        """A slot behind a PCIe switch of the root port that the seed names, or one with a root port of its own."""
        if root:
            if not ROOT_PORT.fullmatch(root):
                raise SeedError([f"Host {self.host.name}: {root!r} is no address of a root port such as 0000:36:02.0."])
            return self._behind_switch(root, numa_node)
        bus = int(address.split(":")[1], 16)
        port = f"0000:{bus - 1:02x}:02.0"
        self._bridge(port, "", numa_node, "PCIe Root Port")
        return Slot(address, port, port, numa_node)

    def given(self, row):
        """The slot of a card whose address the seed has."""
        parent = root = row.get("parent", "")
        parents = {one.address: one.parent for one in self.host.bridges}
        while parents.get(root):
            root = parents[root]
        return Slot(row["pci"], parent, root, row.get("numa_node", 0))

    def _behind_switch(self, root, numa_node):
        above = next((one for one in self.host.bridges if one.address == root), None)
        numa_node = numa_node if above is None else above.numa_node  # one root port belongs to one socket
        number = self.cards_below.get(root, 0)
        self.cards_below[root] = number + 1
        bus = int(root.split(":")[1], 16)
        upstream, downstream = f"0000:{bus + 1:02x}:00.0", f"0000:{bus + 2:02x}:{number:02x}.0"
        self._bridge(root, "", numa_node, "PCIe Root Port")
        self._bridge(upstream, root, numa_node, "PCIe Switch Upstream Port")
        self._bridge(downstream, upstream, numa_node, "PCIe Switch Downstream Port")
        return Slot(f"0000:{bus + 3 + number:02x}:00.0", downstream, root, numa_node)

    def _bridge(self, address, parent, numa_node, name):
        if all(one.address != address for one in self.host.bridges):
            self.host.bridges.append(Bridge(address, parent, numa_node, name))


def _gpu(host, tree, row):
    position = len(host.gpus)
    if "pci" in row:
        slot = tree.given(row)
    else:
        slot = tree.slot(f"0000:{0x17 + 0x10 * position:02x}:00.0", row.get("root"), _node(host, row, position % 2))
    host.slots[slot.address] = slot
    gpu = Gpu(
        pci_id=slot.address,
        board=board(row["board"]),
        numa_node=slot.numa_node,
        configured_type=row.get("graphics_type", "shared"),
        mig=mig.seeded(board(row["board"]), row.get("mig", False)),
        vgpu_mode=row.get("vgpu_mode", "sameSize"),
        bridge=row.get("nvlink", ""),
    )
    if "graphics_type" in row:
        host.typed_gpus.add(gpu.pci_id)
    host.passthru[gpu.pci_id] = _passthru(row)
    host.gpus.append(gpu)
    return gpu


def _refuse_bridges(host):
    """NVLink bridges join at least two GPUs of one board that has NVLinks."""
    for name in dict.fromkeys(gpu.bridge for gpu in host.gpus if gpu.bridge):
        joined = [gpu.board for gpu in host.gpus if gpu.bridge == name]
        if len(joined) < 2 or len(set(joined)) > 1 or not nvlink.links_of(joined[0]):
            titles = ", ".join(board.title for board in joined)
            raise SeedError([f"Host {host.name}: NVLink {name!r} cannot join {titles}; name GPUs of one NVLink board."])


def _node(host, row, usual):
    """The NUMA node of a card: the seed's, which must be one of the machine's sockets, or the usual one."""
    last = host.hardware.sockets - 1
    if row.get("numa_node", 0) > last:
        raise SeedError([f"Host {host.name}: there is no NUMA node {row['numa_node']}; the last one is {last}."])
    return row.get("numa_node", min(usual, last))


def _default_nics(switches):
    first = next(iter(switches), None)
    return [DEFAULT_NICS[0], {**DEFAULT_NICS[1], **({"uplink_of": first} if first else {})}]


def _nic(host, tree, position, row, switches):
    model = row.get("model", "cx6dx")
    # Ports of one model that the seed lists one after the other, on one root, are ports of one card.
    before = host.ports[-1] if host.ports else None
    card = before.pci.rpartition(".")[0] if before is not None else ""
    function = sum(nic.pci.rpartition(".")[0] == card for nic in host.ports)
    if "pci" in row:
        slot = tree.given(row)
        address, parent, root, numa_node = slot.address, slot.parent, slot.root, slot.numa_node
    elif before is not None and before.model_key == model and _root_of(row, before) and function < 2:
        address, parent, root, numa_node = f"{card}.{function}", before.parent, before.root_port, before.numa_node
    else:
        cards = len({nic.pci.rpartition(".")[0] for nic in host.ports})
        numa_node = _node(host, row, 1)
        first_bus = FIRST_NIC_BUS[numa_node > 0]
        slot = tree.slot(f"0000:{first_bus + 0x10 * cards:02x}:00.0", row.get("root"), numa_node)
        address, parent, root, numa_node = slot.address, slot.parent, slot.root, slot.numa_node
    host.passthru[address] = _passthru(row)
    host.ports.append(
        Nic(
            device=row.get("device", f"vmnic{position}"),
            mac=row.get("mac") or _mac(host.number, position),
            pci=address,
            model_key=model,
            numa_node=numa_node,
            root_port=root,
            parent=parent,
            firmware=Firmware.of(**row.get("firmware", {})),
            switch=_switch(host, row.get("uplink_of"), switches),
            plugged=row.get("link", "up") == "up",
            uplink_port=row.get("uplink_port", ""),
            requested_vfs=row.get("virtual_functions"),
        )
    )


def _passthru(row):
    set_aside = row.get("passthrough", False)
    if "dvx" not in row:
        return Passthru(enabled=set_aside, active=set_aside, label=row.get("label"))
    given = row["dvx"]
    made = DvxClass(
        given["class"],
        vendor_name=given.get("vendor", ""),
        checkpoint=given.get("checkpoint", False),
        dma_tracing=given.get("dma_tracing", False),
        sriov_nic=given.get("sriov_nic", False),
    )
    enhanced = given.get("active", True) and not set_aside
    return Passthru(set_aside, set_aside, row.get("label"), made, enhanced, enhanced)


def _root_of(row, before):
    return row.get("root", before.root_port) == before.root_port


def _switch(host, name, switches):
    if name is None:
        return None
    standard = next((one for one in host.standard_switches if one.name == name), None)
    if standard is not None:
        return standard
    if name in switches:
        return switches[name]
    if not STANDARD_SWITCH.fullmatch(name):
        raise SeedError(
            [f"Host {host.name}: there is no switch {name!r}; standard switches are named vSwitch0, 1, ..."]
        )
    host.standard_switches.append(StandardSwitch(name))
    return host.standard_switches[-1]


def _name_for_mst(host):
    """mst counts cards of a kind; the number in the name is the PCI device id in decimal."""
    cards = []
    for nic in host.ports:
        if nic.vendor_id != MELLANOX:
            continue
        card, _dot, function = nic.pci.rpartition(".")
        if card not in cards:
            cards.append(card)
        suffix = f".{function}" if function != "0" else ""
        nic.mst_name = f"mt{nic.device_id}_pciconf{cards.index(card)}{suffix}"


def _mac(number, position):
    return f"b8:ce:f6:{number >> 8 & 0xFF:02x}:{number & 0xFF:02x}:{position:02x}"


def _address(number, position):
    low = f"{number >> 8 & 0xFF}.{number & 0xFF}"
    return f"10.{number >> 16 & 0xFF}.{low}" if position == 0 else f"172.{16 + position}.{low}"
