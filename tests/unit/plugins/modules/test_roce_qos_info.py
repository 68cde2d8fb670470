# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
from dataclasses import fields

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import (
    Marking,
    Neighbour,
    Oper,
    Port,
    Switch,
    as_data,
    from_data,
)
from ansible_collections.aiready.vsphere.plugins.modules import roce_qos_info as module

FULL = Switch(
    "eos",
    hostname="leaf-01",
    version="4.30",
    model="DCS",
    ports={"Ethernet1": Port(dscp_map={26: 3}, ecn={3: Marking(150000, 1500000, 100)}, pfc=[3], mtu=9214)},
    oper={
        "Ethernet1": Oper(up=True, pfc=[3], ecn={3: Marking(1, 2)}, counters={"pauses_sent": {3: 7}, "ecn_marked": 1})
    },
    neighbours={"Ethernet1": [Neighbour("esx-01", "vmnic2")]},
    exceptions=["All flow control is off."],
    unread=["The switch rejected `show x`: % Invalid input"],
    unsaved=True,
)


def test_the_result_has_exactly_the_documented_keys():
    documented = yaml.safe_load(module.RETURN)["switch"]["contains"]
    # These two are the inventory's, and the task's.
    assert {*as_data(FULL), "name", "missing_ports"} == set(documented)


def test_a_state_survives_the_way_through_json():
    back = from_data(json.loads(json.dumps(as_data(FULL))))
    for one in fields(Switch):
        if one.name not in ("own", "config", "raw"):
            assert getattr(back, one.name) == getattr(FULL, one.name), one.name


def test_a_port_without_anything_known_survives_it_too():
    bare = Switch("sonic", ports={"Ethernet0": Port()}, oper={"Ethernet0": Oper()}, neighbours={"Ethernet0": []})
    assert from_data(json.loads(json.dumps(as_data(bare)))).ports == bare.ports


def test_only_the_ports_that_are_asked_for_are_reported():
    assert as_data(FULL, [])["ports"] == {}
