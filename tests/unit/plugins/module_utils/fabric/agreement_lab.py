# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A fabric that agrees with itself: two hosts with a guest each, two leaves, one spine. Tests break one thing of it."""

from __future__ import annotations

import copy
import json

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.fabric import agree
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import endpoint
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import (
    Marking,
    Neighbour,
    Oper,
    Port,
    Switch,
    as_data,
)

IDENTITY = {priority: priority for priority in range(8)}
HOST_PORT, UPLINK = "Ethernet1/1", "Ethernet1/49"


def port(**changes):
    """A port that treats RoCE as it should."""
    right = {
        "trust": "dscp",
        "dscp_map": {dscp: dscp >> 3 for dscp in range(64)},
        "queues": dict(IDENTITY),
        "groups": dict(IDENTITY),
        "pfc_mode": "on",
        "pfc": [3],
        "pfc_queues": dict(IDENTITY),
        "pfc_sends": True,
        "lossless": [3],
        "ecn": {3: Marking(150000, 1500000, 100)},
        "strict": [6],
        "shares": {3: 50},
        "mtu": 9216,
        "watchdog": True,
        "dcbx": "off",
        "pause": False,
        "cable_length_m": 40,
    }
    return Port(**{**right, **changes})


def running(**changes):
    return Oper(**{"up": True, "trust": "dscp", "pfc": [3], "mtu": 9216, "watchdog": True, **changes})


def adapter(owner, switch, **changes):
    """A port of an ESXi host that sees its switch."""
    right = {
        "name": "vmnic2",
        "owner": owner,
        "kind": "esxi",
        "rdma": "vmrdma0",
        "driver": "nmlx5_core",
        "trust": "dscp",
        "dscp": 26,
        "pfc": [3],
        "pfc_sends": [3],
        "pfc_obeys": [3],
        "ecn": [3],
        "cnp_dscp": 48,
        "cnp_priority": 6,
        "mtu": 9000,
        "pause": False,
        "dcbx": "ieee",
        "lldp": [Neighbour(f"{switch}.example.com", "Eth1/1", "00:11:22:33:44:55")],
    }
    return endpoint.Endpoint(**{**right, **changes})


def guest(owner, **changes):
    right = {"name": "ens192", "owner": owner, "rdma": "mlx5_0", "mtu": 9000, "marks": [_mark()], "pause": False}
    return endpoint.Endpoint(**{**right, **changes})


def _mark(traffic_class=106, by="jobs"):
    return {"by": by, "traffic_class": traffic_class}


class Lab:
    """The fabric, as objects that a test changes before it asks."""

    def __init__(self):
        self.switches = {name: Switch(platform="eos", hostname=name) for name in ("leaf-01", "leaf-02", "spine-01")}
        self.hosts = {f"esx-0{n}": [adapter(f"esx-0{n}", f"leaf-0{n}")] for n in (1, 2)}
        self.guests = {f"train-0{n}": [guest(f"train-0{n}")] for n in (1, 2)}
        self.cables = []
        self.intent = None
        for number in (1, 2):
            leaf = self.switches[f"leaf-0{number}"]
            leaf.ports = {HOST_PORT: port(), UPLINK: port()}
            leaf.oper = {HOST_PORT: running(), UPLINK: running()}
            leaf.neighbours = {
                HOST_PORT: [Neighbour(f"esx-0{number}.example.com", "vmnic2", "aa:bb")],
                UPLINK: [Neighbour("spine-01", f"Ethernet1/{number}", "cc:dd")],
            }
            self.switches["spine-01"].ports[f"Ethernet1/{number}"] = port()
            self.switches["spine-01"].oper[f"Ethernet1/{number}"] = running()

    def leaf(self, name=HOST_PORT, switch="leaf-01"):
        return self.switches[switch].ports[name]

    def at(self, number=1):
        return self.hosts[f"esx-0{number}"][0]

    def everywhere(self, **changes):
        for switch in self.switches.values():
            for one in switch.ports.values():
                for key, value in changes.items():
                    setattr(one, key, copy.copy(value))

    def ask(self, **options):
        """What agree() answers, after a way through JSON as between modules."""
        given = {
            "switches": [dict(as_data(one), name=name) for name, one in self.switches.items()],
            "hosts": [_host(name, ports) for name, ports in self.hosts.items()],
            "guests": [
                dict(_host(name, ports), host=f"esx-0{number}")
                for number, (name, ports) in enumerate(self.guests.items(), 1)
            ],
            "cables": self.cables,
            "intent": self.intent,
        }
        return agree(**json.loads(json.dumps(given)), **options)


def _host(name, ports):
    return {"name": name, "ports": [endpoint.as_data(one) for one in ports]}
