# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What `dcb` prints, as text and as JSON, of releases that know more and less."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import dcb_text

SAMPLES = Path(__file__).parent / "samples"
IDENTITY = {priority: priority for priority in range(8)}


def sample(name):
    return (SAMPLES / name).read_text()


def manual(about):
    """One of the outputs in the manual page."""
    parts = sample("linux_host/dcb_show_manpage_examples.txt").split("# ")
    return next(part for part in parts if part.startswith(about))


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param(
            sample("linux_host/dcb_pfc_show_unconfigured.txt"),
            {"pfc_cap": 8, "macsec_bypass": False, "delay": 0, "pfc": []},
            id="pfc that nobody set",
        ),
        pytest.param(
            manual("dcb pfc show"), {"pfc_cap": 8, "macsec_bypass": False, "delay": 4096, "pfc": [6, 7]}, id="pfc"
        ),
        pytest.param(
            manual("dcb ets show"),
            {
                "prio_tc": IDENTITY,
                "tc_tsa": {**dict.fromkeys(range(3), "ets"), **dict.fromkeys(range(3, 8), "strict")},
                "tc_bw": {0: 33, 1: 33, 2: 34, **dict.fromkeys(range(3, 8), 0)},
            },
            id="ets",
        ),
        pytest.param(
            manual("dcb app show"), {"dscp_prio": [(0, 0), (24, 2), (24, 3), (48, 6)]}, id="app with names of DSCPs"
        ),
        pytest.param(
            manual("dcb -N app show"), {"dscp_prio": [(0, 0), (24, 2), (24, 3), (48, 6)]}, id="app with numbers"
        ),
        pytest.param(
            manual("dcb buffer show"),
            {
                "prio_buffer": IDENTITY,
                "buffer_size": {**dict.fromkeys(range(8), 10240), 6: 1048576},
                "total_size": 1222 * 1024,
            },
            id="buffer",
        ),
        pytest.param(manual("dcb dcbx show"), {"dcbx": ["host", "ieee"]}, id="dcbx"),
        pytest.param(manual("dcb apptrust show"), {"order": ["port", "pcp", "ethtype"]}, id="apptrust"),
        pytest.param(
            '{"pfc_cap":8,"macsec_bypass":false,"delay":0,"prio_pfc":[false,false,false,true,false,false,false,false]}',
            {"pfc_cap": 8, "macsec_bypass": False, "delay": 0, "pfc": [3]},
            id="pfc in JSON",
        ),
        pytest.param('[{"dscp_prio":[[26,3," "],[48,6," "]]}]', {"dscp_prio": [(26, 3), (48, 6)]}, id="app in a list"),
        pytest.param("{ }", {}, id="an empty table"),
        pytest.param('{"host":true,"ieee":true,"cee":false}', {"dcbx": ["host", "ieee"]}, id="dcbx in JSON"),
        pytest.param('{"order":["dscp","pcp"]}', {"order": ["dscp", "pcp"]}, id="apptrust in JSON"),
        pytest.param(
            "Attribute read: Operation not supported\n\n",
            {"error": "Attribute read: Operation not supported"},
            id="no DCB",
        ),
        pytest.param(
            'Object "apptrust" is unknown', {"error": 'Object "apptrust" is unknown'}, id="before iproute2 6.2"
        ),
        pytest.param("prio-pfc 0:off 1:off\n  2:off 3:on\r\n", {"pfc": [3]}, id="a table over two lines"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_dcb_is_read_in_every_form(text, found):
    assert dcb_text.parse(text) == found


def test_every_complaint_of_dcb_is_one():
    lines = sample("linux_host/dcb_errors_iproute2_6.1.txt").splitlines()
    complaints = [line for line in lines if line and not line.startswith(("$", "rc=", "dcb utility"))]
    assert len(complaints) == 5
    assert [set(dcb_text.parse(line)) for line in complaints] == [{"error"}] * 5


def test_a_dscp_that_was_added_twice_goes_to_the_higher_priority():
    assert dcb_text.dscp_map([(24, 3), (24, 2), (48, 6)]) == {24: 3, 48: 6}


@pytest.mark.parametrize(
    "text, found",
    [
        ('["host", "other", "ieee"]', {"dcbx": ["host", "ieee"]}),
        ("[]", {"dcbx": []}),
        ('{"host": true, "lld-managed": false, "ieee": true}', {"dcbx": ["host", "ieee"]}),
        ('{"lld-managed": false}', {"dcbx": []}),
        ('[{"willing": true, "ets-cap": 8}]', {"willing": True, "ets_cap": 8}),
        (
            '{"dscp-prio": [[26, 3], [48, 6, 1]], "default-prio": [0, 3]}',
            {"dscp_prio": [(26, 3), (48, 6)], "default_prio": [0, 3]},
        ),
        ('{"default-prio": 3}', {"default_prio": 3}),
        (
            '{"prio-tc": [1, 0], "tc-bw": [40, 60], "tc-maxrate": [1]}',
            {"prio_tc": {0: 1, 1: 0}, "tc_bw": {0: 40, 1: 60}, "tc_maxrate": [1]},
        ),
        ('{"prio-tc": "unknown"}', {"prio_tc": "unknown"}),
    ],
)
def test_json_of_one_object(text, found):
    assert dcb_text.parse(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        ("prio-pfc 0:on 3:on 5:off", {"pfc": [0, 3]}),
        ("prio-pfc 0:off", {"pfc": []}),
        ("prio-pfc x:on", {}),
        ("prio-pfc 0:on\n  3:on", {"pfc": [0, 3]}),
        ("prio-pfc 0:on\n# 3:on", {"pfc": [0]}),
        ("prio-pfc 0:on\n# prio-pfc 3:on", {"pfc": [0]}),
        ("prio-pfc 0:on\n$ dcb\n3:on", {"pfc": [0]}),
        ("prio-pfc 0:on\nprio-pfc 3:on Operation not supported", {"pfc": [0]}),
        ("3:on prio-pfc", {}),
        ("host ieee", {"dcbx": ["host", "ieee"]}),
        ("prio-pfc 0:on\nhost\n3:on", {"pfc": [0], "dcbx": ["host"]}),
        ("order: dscp pcp\n", {"order": ["dscp", "pcp"]}),
        ("order dscp", {"order": ["dscp"]}),
        ("prio-pfc 0:on\norder 3:on\n4:on", {"pfc": [0, 4], "order": ["3:on"]}),
        ("default-prio 0 3", {"default_prio": [0, 3]}),
        ("default-prio x", {"default_prio": [0]}),
        ("dscp-prio 26:3 CS6:6 af99:1 48:x", {"dscp_prio": [(26, 3), (48, 6)]}),
        ("dscp-prio 26", {}),
        ("stream-port-prio 80:3 http:x", {"stream_port_prio": [("80", 3), ("http", "x")]}),
        ("tc-tsa 0:ets 1:strict x:ets", {"tc_tsa": {0: "ets", 1: "strict"}}),
        (
            "buffer-size 0:1b 1:2Kb 2:1.5Mb 3:1Gb 4:7",
            {"buffer_size": {0: 1, 1: 2048, 2: 1536 * 1024, 3: 1024**3, 4: 7}},
        ),
        ("willing on cbs off delay 5 pfc-cap x", {"willing": True, "cbs": False, "delay": 5, "pfc_cap": "x"}),
        ("delay", {"delay": ""}),
        ("Error: Operation not supported", {"error": "Error: Operation not supported"}),
        ("", {}),
        (None, {}),
    ],
)
def test_text_of_one_object(text, found):
    assert dcb_text.parse(text) == found


@pytest.mark.parametrize(
    "pairs, found",
    [([], {}), ([(26, 0)], {26: 0}), ([(26, 3), (26, 5), (26, 4), (48, 6)], {26: 5, 48: 6})],
)
def test_highest_priority_of_a_dscp(pairs, found):
    assert dcb_text.dscp_map(pairs) == found


@pytest.mark.parametrize(
    "text, found",
    [
        ('{"prio-pfc": 3}', {}),
        ('{"prio-pfc": null, "dcbx": 3, "order": 7}', {}),
        ('{"dscp-prio": [[26, 3], 26, ["x", 3], [26]]}', {"dscp_prio": [(26, 3)]}),
        ('{"dscp-prio": {"26": 3}}', {}),
    ],
)
def test_json_of_another_form_is_not_reported(text, found):
    assert dcb_text.parse(text) == found
