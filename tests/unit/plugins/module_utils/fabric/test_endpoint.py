# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Ports of hosts and guests: through JSON and back, and their outputs apart again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import endpoint, linux
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

WHOLE = endpoint.Endpoint(
    "ens224",
    "job-01",
    speed=100,
    up=True,
    dscp_map={26: 3, 48: 6},
    marks=[{"by": "kernel", "traffic_class": 106}, {"by": "other", "traffic_class": 104}],
    pfc=[3],
    lldp=[Neighbour("leaf-01", "Ethernet1"), Neighbour(chassis="0c:42:a1:00:00:01", description="a port")],
)


def through_json(data):
    return endpoint.from_data(json.loads(json.dumps(data)))


def test_an_endpoint_is_the_same_on_the_other_side_of_json():
    assert through_json(endpoint.as_data(WHOLE)) == WHOLE
    bare = replace(WHOLE, dscp_map=None, lldp=None, marks=None)
    assert through_json(endpoint.as_data(bare)) == bare


def test_keys_of_a_later_release_are_left_out():
    data = endpoint.as_data(WHOLE)
    data["later"] = 1
    data["lldp"][0]["later"] = 1
    assert through_json(data) == WHOLE
    assert endpoint.from_data({}) == endpoint.Endpoint("", "")


def test_outputs_of_tools_are_taken_apart_by_their_titles():
    text = "noise\n== ip\ninet 10.0.0.1\n\n== ethtool ens224 \n== lldptool\none\n== ip\nlast\n"
    assert linux.sections(text) == {"ip": "last", "ethtool ens224": "", "lldptool": "one"}
    assert linux.sections("no title at all\n") == {}


@pytest.mark.parametrize(
    "given, dscps, without",
    [
        ({"marks": None}, None, []),
        ({"marks": []}, [0], []),
        ({"marks": [{"by": "kernel", "traffic_class": 106}, {"by": "other", "traffic_class": 104}]}, [26], ["other"]),
        ({"marks": [{"by": "a", "traffic_class": 1}, {"by": "b", "traffic_class": 0}]}, [0], []),
        ({"marks": [{"by": "a", "traffic_class": 184}, {"by": "b", "traffic_class": 2}]}, [0, 46], ["a"]),
        ({"dscp": 0, "marks": [{"by": "a", "traffic_class": 104}]}, [0], ["a"]),
    ],
)
def test_dscps_of_an_endpoint_and_who_marks_without_leave_to_be_marked(given, dscps, without):
    found = replace(WHOLE, dscp=given.get("dscp"), marks=given["marks"])
    assert (found.dscps(), found.without_ect(), found.place) == (dscps, without, "job-01 ens224")
