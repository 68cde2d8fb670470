# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The picture of a site for a report: hosts with GPUs and adapters, switches, VMs, and the cables between. Pure."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.found import listing, mapping


def picture(guests, agreement=None, host_ports=None, switches=None):
    """The topology of validation.json.

    guests is {name: {host, gpu, nic, address}}, agreement the result of roce_agreement_info, host_ports what
    esxi_roce_info tells ([{name, ports}]), switches what roce_qos_info does ([{name, platform}]).
    """
    known = {one["name"]: one for one in listing(switches) if mapping(one).get("name")}
    cables = _cables(mapping(agreement).get("paths"), known)
    hosts = {}
    for name, guest in mapping(guests).items():
        if guest.get("host"):
            hosts.setdefault(guest["host"], []).append(name)
    speeds = {
        (one.get("name"), port.get("name")): port.get("speed")
        for one in listing(host_ports)
        for port in listing(mapping(one).get("ports"))
    }
    return {
        "hosts": [
            {
                "name": host,
                "gpus": [],
                "nics": [
                    {"name": nic, "speed_gb": speeds.get((host, nic)), "switch": at[0], "port": at[1]}
                    for (owner, nic), at in sorted(cables.items())
                    if owner == host
                ],
                "vms": vms,
            }
            for host, vms in sorted(hosts.items())
        ],
        "switches": [
            {"name": name, "platform": str(one.get("platform") or ""), "peers": _peers(name, agreement, known)}
            for name, one in sorted(known.items())
        ],
        "vms": [
            dict({key: guest.get(key) or "" for key in ("host", "gpu", "nic", "address")}, name=name)
            for name, guest in mapping(guests).items()
        ],
    }


def _cables(paths, switches):
    """{(host, adapter): (switch, port)}."""
    found = {}
    for path in listing(paths):
        for one, other in ((path["a"], path["b"]), (path["b"], path["a"])):
            if other["name"] in switches and one["name"] not in switches:
                found[one["name"], one["port"]] = (other["name"], other["port"])
    return found


def _peers(name, agreement, switches):
    found = []
    for path in listing(mapping(agreement).get("paths")):
        for one, other in ((path["a"], path["b"]), (path["b"], path["a"])):
            if one["name"] == name and other["name"] in switches:
                found.append({"port": one["port"], "to": other["name"]})
    return found
