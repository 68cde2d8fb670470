"""esxcli network and rdma: ports, pause frames, DCB, virtual functions, firewall rules, RDMA devices."""

from __future__ import annotations

from vsphere_twin.model import adapters

from ..command import BOOL, INT, Argument, Refused, Rows, Single, Structure, command

RULESET = Structure("Ruleset", ("Name", "Enabled"), types={"Enabled": BOOL})
NIC = Structure(
    "NetworkNic",
    (
        *("Name", "PCI Device", "Driver", "Admin Status", "Link Status", "Speed", "Duplex", "MAC Address", "MTU"),
        "Description",
    ),
    types={"Speed": INT, "MTU": INT},
)
NIC_FULL = Structure(
    "NicDetails",
    (
        *("Name", "Link Status", "Link Detected", "Auto Negotiation", "Pause Autonegotiate", "Pause RX", "Pause TX"),
        *("Bus Info", "Driver", "Firmware Version", "Virtual Address"),
    ),
    types=dict.fromkeys(("Link Detected", "Auto Negotiation", "Pause Autonegotiate", "Pause RX", "Pause TX"), BOOL),
)
DCB = Structure(
    "DcbStatus",
    ("Nic Name", "Mode", "Enabled", "PFC Enabled", "PFC Configuration"),
    types={"Enabled": BOOL, "PFC Enabled": BOOL},
)
PAUSE = Structure(
    "PauseParams",
    ("NIC", "Pause Params Supported", "Pause RX", "Pause TX", "Auto Negotiation"),
    types=dict.fromkeys(("Pause Params Supported", "Pause RX", "Pause TX", "Auto Negotiation"), BOOL),
)
VF = Structure("SriovVf", ("VF ID", "Active", "PCI Address", "Owner World ID"), types={"VF ID": INT, "Active": BOOL})
RDMA = Structure(
    "RdmaDevice", ("Name", "Driver", "State", "MTU", "Speed", "Paired Uplink", "Description"), types={"MTU": INT}
)
VMKNIC = Structure("RdmaVmknic", ("Device", "Vmknic", "NetStack"))
PROTOCOL = Structure(
    "RdmaProtocol",
    ("Device", "RoCE v1", "RoCE v2", "iWARP"),
    types=dict.fromkeys(("RoCE v1", "RoCE v2", "iWARP"), BOOL),
)
_NIC = Argument("nic-name", "n", required=True)


@command("network.firewall.ruleset.list", "List the rulesets in firewall.", Argument("ruleset-id", "r"))
def ruleset_list(world, host, rulesetid=None):
    _require_ruleset(host, rulesetid)
    rows = [
        {"Name": name, "Enabled": enabled}
        for name, enabled in sorted(host.rulesets.items())
        if rulesetid in (None, name)
    ]
    return Rows(RULESET, rows, table=True)


@command(
    "network.firewall.ruleset.set",
    "Set firewall ruleset status (allowedAll flag and enabled status).",
    Argument("allowed-all", "a", type=BOOL),
    Argument("enabled", "e", type=BOOL),
    Argument("ruleset-id", "r", required=True),
)
def ruleset_set(world, host, rulesetid, enabled=None, allowedall=None):
    _require_ruleset(host, rulesetid)
    if enabled is not None:
        host.rulesets[rulesetid] = enabled
    if allowedall:
        host.allowed_hosts.pop(rulesetid, None)
    world.touch(host, host.managers["firewallSystem"])


@command("network.nic.list", "This command will list the Physical NICs currently installed and loaded on the system.")
def nic_list(world, host):
    return Rows(NIC, [_nic(nic) for nic in host.nics], table=True)


@command("network.nic.get", "Get the generic configuration of a network device", _NIC)
def nic_get(world, host, nicname):
    nic = _port(host, nicname)
    details = {
        "Name": nic.device,
        "Link Status": "Up" if nic.link_up else "Down",
        "Link Detected": nic.link_up,
        "Auto Negotiation": True,
        "Pause Autonegotiate": False,
        "Pause RX": nic.pause_rx,
        "Pause TX": nic.pause_tx,
        "Bus Info": nic.pci,
        "Driver": nic.driver,
        "Firmware Version": nic.firmware.version,
        "Virtual Address": nic.mac,
    }
    return Single(NIC_FULL, details)


@command("network.nic.dcb.status.get", "Get the DCB information for a NIC.", _NIC)
def dcb_get(world, host, nicname):
    mode, mask = adapters.dcb(host, _port(host, nicname))
    status = {
        "Nic Name": nicname,
        "Mode": mode,
        "Enabled": bool(mask),
        "PFC Enabled": bool(mask),
        "PFC Configuration": " ".join(str(mask >> bit & 1) for bit in range(8)),
    }
    return Single(DCB, status)


@command("network.nic.pauseParams.list", "List pause parameters of all NICs", Argument("nic-name", "n"))
def pause_list(world, host, nicname=None):
    rows = [
        {
            "NIC": nic.device,
            "Pause Params Supported": True,
            "Pause RX": nic.pause_rx,
            "Pause TX": nic.pause_tx,
            "Auto Negotiation": False,
        }
        for nic in ([_port(host, nicname)] if nicname else host.nics)
    ]
    return Rows(PAUSE, rows, table=True)


@command(
    "network.nic.pauseParams.set",
    "Set pause parameters for a NIC.",
    Argument("auto", "a", type=BOOL),
    _NIC,
    Argument("rx", "r", type=BOOL),
    Argument("tx", "t", type=BOOL),
)
def pause_set(world, host, nicname, rx=None, tx=None, auto=None):
    nic = _port(host, nicname)
    adapters.set_pauseparams(
        world, host, nic, nic.pause_tx if tx is None else tx, nic.pause_rx if rx is None else rx
    )  # fmt: skip


@command("network.sriovnic.list", "This command will list the SRIOV Enabled NICs (PFs) currently installed.")
def sriov_list(world, host):
    return Rows(NIC, [_nic(nic) for nic in host.nics if nic.vfs], table=True)


@command("network.sriovnic.vf.list", "Get the generic configuration of VFs for SRIOV NIC", _NIC)
def vf_list(world, host, nicname):
    nic = _port(host, nicname)
    own = [one for one in adapters.pci_devices(host) if one.is_vf and one.physical_function == nic.pci]
    rows = [
        {
            "VF ID": number,
            "Active": one.address in host.claimed,
            "PCI Address": _decimal(one.address),
            "Owner World ID": _owner(host.claimed.get(one.address)),
        }
        for number, one in enumerate(own)
    ]
    return Rows(VF, rows, table=True)


@command("rdma.device.list", "List all logical RDMA devices currently registered on the system.")
def rdma_list(world, host):
    rows = [
        {
            "Name": nic.rdma.name,
            "Driver": nic.rdma.driver,
            "State": "Active" if nic.link_up else "Down",
            "MTU": adapters.rdma_mtu(nic),
            "Speed": f"{nic.speed_mbps // 1000} Gbps" if nic.link_up else "0",
            "Paired Uplink": nic.device,
            "Description": nic.model,
        }
        for nic in adapters.rdma_devices(host)
    ]
    return Rows(RDMA, rows, table=True)


@command("rdma.device.vmknic.list", "List the vmknics associated with RDMA devices.")
def rdma_vmknics(world, host):
    rows = [
        {"Device": nic.rdma.name, "Vmknic": vmk.device, "NetStack": "defaultTcpipStack"}
        for nic in adapters.rdma_devices(host)
        for vmk in host.vmkernel
        if vmk.switch is not None and vmk.switch is nic.switch
    ]
    return Rows(VMKNIC, rows, table=True)


@command("rdma.device.protocol.list", "List the protocols of logical RDMA devices.")
def rdma_protocols(world, host):
    rows = [
        {"Device": nic.rdma.name, "RoCE v1": True, "RoCE v2": True, "iWARP": False}
        for nic in adapters.rdma_devices(host)
    ]
    return Rows(PROTOCOL, rows, table=True)


def _port(host, name):
    found = next((nic for nic in host.nics if nic.device == name), None)
    if found is None:
        raise Refused(f"There is no physical nic named {name}")
    return found


def _require_ruleset(host, name):
    if name is not None and name not in host.rulesets:
        raise Refused(f"Invalid ruleset id {name}")


def _nic(nic):
    return {
        "Name": nic.device,
        "PCI Device": nic.pci,
        "Driver": nic.driver,
        "Admin Status": "Up",
        "Link Status": "Up" if nic.link_up else "Down",
        "Speed": nic.speed_mbps if nic.link_up else 0,
        "Duplex": "Full" if nic.link_up else "Half",
        "MAC Address": nic.mac,
        "MTU": nic.mtu,
        "Description": f"{nic.kind.vendor_name} {nic.model}",
    }


def world_of(vm):
    """The number that ESXi runs a VM under; a model makes it of the VM's own."""
    return str(2_000_000 + int(vm.moid.rpartition("-")[2]))


def _decimal(address):
    """'0000:98:00.2' as 00000:152:00.2, the form of virtual functions (SmartX RDMA guide)."""
    segment, bus, rest = address.split(":")
    slot, function = rest.split(".")
    return f"{int(segment, 16):05}:{int(bus, 16):03}:{int(slot, 16):02}.{int(function, 16)}"


def _owner(holder):
    return world_of(holder.vm) if holder is not None else "-"
