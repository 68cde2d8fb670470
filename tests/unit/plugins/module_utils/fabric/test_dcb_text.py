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
