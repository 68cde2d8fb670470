"""esxcli network ip, vswitch, firewall and vm: vmkernel ports, switches, and which VMs are on them.

Names and order of the fields are those of printed output [unsure: MEM].
"""

from __future__ import annotations

import ipaddress

from vsphere_twin.model import standard

from ..command import BOOL, INT, Argument, Refused, Rows, Single, Structure, command
from .network import world_of

INTERFACE = Structure(
    "NetworkInterface",
    (
        *("Name", "MAC Address", "Enabled", "Portset", "Portgroup", "Netstack Instance", "VDS Name", "VDS UUID"),
        *("VDS Port", "VDS Connection", "Opaque Network ID", "Opaque Network Type", "External ID", "MTU", "TSO MSS"),
        *("RXDispQueue Size", "Port ID"),
    ),
    types={"Enabled": BOOL, **dict.fromkeys(("VDS Connection", "MTU", "TSO MSS", "RXDispQueue Size", "Port ID"), INT)},
    header="<Name>",
)
IPV4 = Structure(
    "IPv4Interface",
    ("Name", "IPv4 Address", "IPv4 Netmask", "IPv4 Broadcast", "Address Type", "Gateway", "DHCP DNS"),
    types={"DHCP DNS": BOOL},
)
STANDARD = Structure(
    "VirtualSwitch",
    (
        *("Name", "Class", "Num Ports", "Used Ports", "Configured Ports", "MTU", "CDP Status", "Beacon Enabled"),
        *("Beacon Interval", "Beacon Threshold", "Beacon Required By", "Uplinks", "Portgroups"),
    ),
    types={
        **dict.fromkeys(("Num Ports", "Used Ports", "Configured Ports", "MTU"), INT),
        **dict.fromkeys(("Beacon Interval", "Beacon Threshold"), INT),
        "Beacon Enabled": BOOL,
    },
    lists=("Uplinks", "Portgroups"),
    header="<Name>",
)
PORTGROUP = Structure(
    "PortGroup", ("Name", "Virtual Switch", "Active Clients", "VLAN ID"), types={"Active Clients": INT, "VLAN ID": INT}
)
DISTRIBUTED = Structure(
    "VDS",
    ("Name", "VDS ID", "Class", "Num Ports", "Used Ports", "Configured Ports", "MTU", "CDP Status", "Uplinks"),
    types=dict.fromkeys(("Num Ports", "Used Ports", "Configured Ports", "MTU"), INT),
    lists=("Uplinks",),
    header="<Name>",
)
FIREWALL = Structure("Firewall", ("Default Action", "Enabled", "Loaded"), types={"Enabled": BOOL, "Loaded": BOOL})
VM = Structure(
    "VM", ("World ID", "Name", "Num Ports", "Networks"), types={"World ID": INT, "Num Ports": INT}, lists=("Networks",)
)
VM_PORT = Structure(
    "Port",
    ("Port ID", "vSwitch", "Portgroup", "DVPort ID", "MAC Address", "IP Address", "Team Uplink", "Uplink Port ID"),
    types={"Port ID": INT, "Uplink Port ID": INT},
    header="<Port ID>",
)
FIRST_PORT = 67_108_866


@command("network.ip.interface.list", "This command will list the VMkernel network interfaces currently known.")
def interface_list(world, host):
    rows = []
    for number, nic in enumerate(host.vmkernel):
        switch = nic.switch
        rows.append(
            {
                "Name": nic.device,
                "MAC Address": nic.mac,
                "Enabled": True,
                "Portset": switch.name if switch is not None else _switch_of(host, nic.portgroup),
                "Portgroup": "N/A" if switch is not None else nic.portgroup,
                "Netstack Instance": "defaultTcpipStack",
                "VDS Name": switch.name if switch is not None else "N/A",
                "VDS UUID": switch.uuid if switch is not None else "N/A",
                "VDS Port": str(number) if switch is not None else "N/A",
                "VDS Connection": 1 if switch is not None else -1,
                "Opaque Network ID": "N/A",
                "Opaque Network Type": "N/A",
                "External ID": "N/A",
                "MTU": nic.mtu,
                "TSO MSS": 65535,
                "RXDispQueue Size": 4,
                "Port ID": FIRST_PORT + number,
            }
        )
    return Rows(INTERFACE, rows)


@command(
    "network.ip.interface.ipv4.get",
    "List the configured IPv4 addresses.",
    Argument("interface-name", "i"),
    Argument("netstack", "N"),
)
def ipv4_get(world, host, interfacename=None, netstack=None):
    found = [nic for nic in host.vmkernel if interfacename in (None, nic.device)]
    if not found:
        raise Refused(f"Unable to find vmkernel interface {interfacename}")
    rows = []
    for nic in found:
        network = ipaddress.ip_interface(f"{nic.ip}/{nic.netmask}").network
        row = (nic.device, nic.ip, nic.netmask, str(network.broadcast_address), "STATIC", "0.0.0.0", False)
        rows.append(dict(zip(IPV4.labels, row, strict=True)))
    return Rows(IPV4, rows, table=True)


@command(
    "network.vswitch.standard.list",
    "List the virtual switches current on the ESXi host.",
    Argument("vswitch-name", "v"),
)
def standard_list(world, host, vswitchname=None):
    found = [one for one in host.standard_switches if vswitchname in (None, one.name)]
    if not found:
        raise Refused(f"No such virtual switch: {vswitchname}")
    return Rows(STANDARD, [_standard(host, one) for one in found])


@command("network.vswitch.standard.portgroup.list", "List all of the port groups currently on the system.")
def portgroup_list(world, host):
    rows = [
        (name, switch.name, _clients(host, name), vlan)
        for switch in host.standard_switches
        for name, vlan in standard.groups_of(host, switch)
    ]
    return Rows(PORTGROUP, [dict(zip(PORTGROUP.labels, row, strict=True)) for row in sorted(rows)], table=True)


@command("network.vswitch.dvs.vmware.list", "List the VMware vSphere Distributed Switch currently configured.")
def distributed_list(world, host):
    rows = [
        {
            "Name": one.name,
            "VDS ID": one.uuid,
            "Class": "cswitch",
            "Num Ports": 2048,
            "Used Ports": len(one.uplinks_of(host)) + sum(nic.switch is one for nic in host.vmkernel),
            "Configured Ports": 512,
            "MTU": one.mtu,
            "CDP Status": "listen",
            "Uplinks": [nic.device for nic in one.uplinks_of(host)],
        }
        for one in host.switches.values()
    ]
    return Rows(DISTRIBUTED, rows)


@command("network.firewall.get", "Get the firewall status.")
def firewall_get(world, host):
    return Single(FIREWALL, {"Default Action": "DROP", "Enabled": True, "Loaded": True})


@command("network.vm.list", "List networking information for the VM's that have active ports.")
def vm_list(world, host):
    rows = [
        {
            "World ID": int(world_of(vm)),
            "Name": vm.name,
            "Num Ports": len(vm.nics),
            "Networks": [one.name for one in vm.networks.values()],
        }
        for vm in host.running_vms()
        if vm.nics
    ]
    return Rows(VM, rows, table=True)


@command(
    "network.vm.port.list",
    "List of active ports for a given VM.",
    Argument("world-id", "w", type=INT, required=True),
)
def vm_port_list(world, host, worldid):
    vm = next((one for one in host.running_vms() if int(world_of(one)) == worldid), None)
    if vm is None:
        raise Refused(f"World {worldid} does not exist")
    rows = []
    for number, nic in enumerate(vm.nics):
        port = getattr(nic.backing, "port", None)
        group = world.get(port.portgroupKey) if port is not None else None
        rows.append(
            {
                "Port ID": FIRST_PORT + 1000 + number,
                "vSwitch": group.switch.name if group is not None else _switch_of(host, nic.backing.deviceName),
                "Portgroup": group.key if group is not None else nic.backing.deviceName,
                "DVPort ID": port.portKey if port is not None else "",
                "MAC Address": nic.macAddress,
                "IP Address": vm.addresses.get(nic.key, "0.0.0.0") if vm.tools_running else "0.0.0.0",
                "Team Uplink": next((one.device for one in host.nics), "void"),
                "Uplink Port ID": 0,
            }
        )
    return Rows(VM_PORT, rows)


def _standard(host, switch):
    groups = [name for name, _vlan in standard.groups_of(host, switch)]
    uplinks = [nic.device for nic in host.nics if nic.switch is switch]
    return {
        "Name": switch.name,
        "Class": "cswitch",
        "Num Ports": 1536,
        "Used Ports": len(uplinks) + sum(_clients(host, name) for name in groups),
        "Configured Ports": 128,
        "MTU": switch.mtu,
        "CDP Status": "listen",
        "Beacon Enabled": False,
        "Beacon Interval": 1,
        "Beacon Threshold": 3,
        "Beacon Required By": "",
        "Uplinks": uplinks,
        "Portgroups": groups,
    }


def _switch_of(host, group):
    found = (one.name for one in host.standard_switches if group in dict(standard.groups_of(host, one)))
    return next(found, "N/A")


def _clients(host, name):
    """Return the clients of a port group: vmkernel ports, and adapters of running VMs."""
    adapters = [getattr(nic.backing, "deviceName", None) for vm in host.running_vms() for nic in vm.nics]
    return sum(nic.portgroup == name for nic in host.vmkernel) + adapters.count(name)
