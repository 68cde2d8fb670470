# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The classic silent mistakes, one at a time, in a fabric that is right otherwise."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.fabric import _to_guests, summary
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour, Port, Switch

from .agreement_lab import HOST_PORT, UPLINK, Lab, adapter, port, running
from .agreement_mistakes import LEAF, MISTAKES, STOCK, of_guest, of_host, of_port, of_running


def test_a_fabric_that_agrees_has_nothing_to_report():
    answer = Lab().ask()
    assert (answer["agreed"], answer["disagreements"], answer["not_known"]) == (True, [], [])
    assert [path["agreed"] for path in answer["paths"]] == [True] * 4


@pytest.mark.parametrize("intent", [None, {}], ids=["as most of the fabric", "as an intent says"])
@pytest.mark.parametrize("change, code, sentence", MISTAKES)
def test_one_mistake_is_reported_in_one_sentence(change, code, sentence, intent):
    lab = Lab()
    lab.intent = intent
    change(lab)
    found = lab.ask()["disagreements"]
    if intent is not None:
        sentence = sentence.replace("most of the fabric", "the intent")
    assert sorted(one["code"] for one in found) == sorted([code] if isinstance(code, str) else code)
    assert sentence in [one["msg"] for one in found]


@pytest.mark.parametrize("change, code, sentence", MISTAKES)
def test_a_mistake_is_data_too(change, code, sentence):
    lab = Lab()
    change(lab)
    for one in lab.ask()["disagreements"]:
        assert set(one) == {"msg", "code", "severity", "a", "b", "key", "seen", "breaks"}
        assert {one["severity"]} <= {"error", "warning"}
        assert set(one["a"]) == {"name", "port"}
        assert one["breaks"].rstrip(".") in one["msg"]


def test_headers_that_a_platform_counts_in_one_place_alone_are_no_difference_of_mtu():
    lab = Lab()
    of_running(mtu=9216 - 32)(lab)
    assert lab.ask()["disagreements"] == []


def test_only_errors_are_disagreement_unless_warnings_shall_count():
    lab = Lab()
    of_port(watchdog=False)(lab)
    assert (lab.ask()["agreed"], lab.ask(strict=True)["agreed"]) == (True, False)
    of_port(trust="pcp")(lab)
    assert lab.ask()["agreed"] is False


def test_the_path_with_an_error_is_the_one_that_is_reported():
    lab = Lab()
    of_port(dscp_map=STOCK)(lab)
    bad = [path for path in lab.ask()["paths"] if not path["agreed"]]
    assert [(path["a"]["name"], path["b"]["name"]) for path in bad] == [("esx-01", "leaf-01")]


@pytest.mark.parametrize(
    "change, sentence",
    [
        pytest.param(of_port(trust=None), f"{LEAF} does not report the trust mode.", id="trust"),
        pytest.param(of_port(dscp_map=None), f"{LEAF} does not report the priority of the RoCE DSCP.", id="map"),
        pytest.param(of_port(pfc=None), f"{LEAF} does not report PFC.", id="PFC"),
        pytest.param(of_port(ecn=None), f"{LEAF} does not report ECN.", id="ECN"),
        pytest.param(
            of_host(cnp_dscp=None, ecn=None),
            "esx-01 vmnic2 does not report the reaction to ECN marks and the CNP DSCP.",
            id="congestion control of the host",
        ),
        pytest.param(of_guest(marks=None), "train-01 ens192 does not report the RoCE DSCP.", id="marks of a guest"),
        pytest.param(
            lambda lab: lab.hosts.pop("esx-02"),
            f"leaf-02 {HOST_PORT} is connected to esx-02.example.com, which was not read.",
            id="host that was not read",
        ),
        pytest.param(
            lambda lab: (lab.switches["leaf-01"].neighbours.pop(HOST_PORT), setattr(lab.at(), "lldp", [])),
            f"leaf-01 {HOST_PORT}: the other end is unknown. LLDP shows no neighbour, and no cable is listed.",
            id="other end of a port",
        ),
        pytest.param(
            lambda lab: lab.switches["leaf-01"].unread.append("The switch rejected `show x`: no."),
            "leaf-01: The switch rejected `show x`: no.",
            id="refused command",
        ),
    ],
)
def test_what_is_not_known_is_reported_and_not_taken_for_right(change, sentence):
    lab = Lab()
    change(lab)
    assert sentence in lab.ask()["not_known"]


def test_ports_that_report_as_little_share_a_sentence():
    lab = Lab()
    lab.everywhere(watchdog=None)
    reported = [sentence for sentence in lab.ask()["not_known"] if sentence.startswith("spine-01")]
    assert reported == ["spine-01 Ethernet1/1-2 does not report the watchdog."]


def test_without_hosts_the_priority_is_the_one_that_switches_keep_lossless():
    lab = Lab()
    lab.hosts, lab.guests = {}, {}
    lab.everywhere(pfc=[5], lossless=[5], dscp_map={26: 5, 48: 6})
    assert lab.ask()["wanted"]["priority"] == 5


def test_the_priority_is_that_of_the_hosts_where_switches_keep_another_one_lossless():
    lab = Lab()
    for number in (1, 2):
        of_host(number, pfc=[4], pfc_sends=[4], pfc_obeys=[4])(lab)
    assert lab.ask()["wanted"]["priority"] == 4


def test_a_fabric_without_pauses_is_not_reported_to_have_them():
    lab = Lab()
    lab.everywhere(pfc=[], pfc_mode="off", lossless=[], watchdog=False)
    for number in (1, 2):
        of_host(number, pfc=[], pfc_sends=[], pfc_obeys=[])(lab)
    for switch in lab.switches.values():
        switch.oper = {}
    answer = lab.ask()
    assert (answer["agreed"], answer["disagreements"], answer["wanted"]["lossless"]) == (True, [], False)


def test_pauses_that_nobody_wants_are_reported():
    lab = Lab()
    lab.intent = {"mode": "lossy"}
    assert {one["code"] for one in lab.ask()["disagreements"]} == {"pfc_unwanted"}


def test_cables_that_lldp_does_not_show_are_taken_from_the_list():
    lab = Lab()
    lab.switches["leaf-01"].neighbours = {}
    lab.at().lldp = None
    lab.cables = [
        {"host": "esx-01", "nic": "vmnic2", "switch": "leaf-01", "port": "eth1/1"},
        {"switch": "leaf-01", "port": UPLINK, "peer": "spine-01", "peer_port": "Ethernet1/1"},
    ]
    answer = lab.ask()
    assert answer["not_known"] == []
    assert [path["known_from"] for path in answer["paths"] if path["b"]["name"] == "leaf-01"] == [["given"]]


def test_adapters_for_other_traffic_and_the_ports_they_lead_to_are_no_concern():
    lab = Lab()
    lab.hosts["esx-01"].append(
        type(lab.at())(
            "vmnic0", "esx-01", kind="esxi", mtu=1500, pause=True, lldp=[Neighbour("leaf-01", "Ethernet1/2", "x")]
        )
    )
    lab.switches["leaf-01"].ports["Ethernet1/2"] = type(lab.leaf())(trust="pcp", mtu=1500, pfc=[], pfc_mode="off")
    assert lab.ask()["disagreements"] == []


def test_semi_lossless_switches_need_not_ask_their_peers_to_wait():
    lab = Lab()
    lab.intent = {"mode": "semi_lossless"}
    lab.everywhere(pfc_sends=False)
    assert lab.ask()["disagreements"] == []


def test_ports_with_one_trouble_share_a_line_for_people():
    lab = Lab()
    lab.everywhere(watchdog=False)
    lines = [line for line in summary(lab.ask()) if "spine-01" in line]
    assert lines == [
        "warning  spine-01 Ethernet1/1-2 has PFC but no PFC watchdog: one adapter that sends pauses without end can "
        "block the fabric."
    ]


@pytest.mark.parametrize(
    "up, known, concerns",
    [
        pytest.param(True, True, True, id="with a link"),
        pytest.param(False, True, False, id="without a link"),
        pytest.param(None, True, False, id="beside ports whose cables are known"),
        pytest.param(None, False, True, id="on a switch of which no cable is known"),
    ],
)
def test_a_port_that_pauses_and_leads_nobody_knows_where_is_looked_at(up, known, concerns):
    lab = Lab()
    leaf = lab.switches["leaf-01"]
    leaf.ports["Ethernet1/7"], leaf.oper["Ethernet1/7"] = port(watchdog=False), running(up=up, watchdog=False)
    if not known:
        leaf.neighbours = {}
        lab.at().lldp = None
    found = [one["code"] for one in lab.ask()["disagreements"] if one["a"]["port"] == "Ethernet1/7"]
    assert found == (["watchdog_off"] if concerns else [])


def test_a_switch_of_which_nothing_is_compared_is_named():
    lab = Lab()
    lab.switches["leaf-03"] = Switch("onyx", ports={"Eth1/1": Port(trust="pcp", pfc=[])})
    answer = lab.ask()
    said = "leaf-03: no port was checked. No port has PFC or is on a known cable."
    assert [sentence for sentence in answer["not_known"] if "leaf-0" in sentence and "no port" in sentence] == [said]


def test_a_peer_that_does_not_look_at_the_dscp_is_no_witness_for_its_class():
    lab = Lab()
    lab.switches["spine-01"].ports["Ethernet1/1"].dscp_map = {26: 1, 48: 6}
    lab.leaf(UPLINK).trust = "pcp"
    found = [one["msg"] for one in lab.ask()["disagreements"] if one["code"] == "dscp_map"]
    assert len(found) == 1
    assert "leaf-01" not in found[0]


def test_adapter_for_management_of_a_host_whose_data_path_is_known_has_no_unknown_lines():
    lab = Lab()
    silent = {"pfc": None, "pfc_sends": None, "pfc_obeys": None, "dscp": None, "lldp": []}
    lab.at().switch, lab.at().portgroups = "dvs-01", [{"name": "pg-rdma", "vlan": 111}]
    lab.hosts["esx-01"].append(adapter("esx-01", "nobody", name="vmnic0", rdma="vmrdma1", **silent))
    reported = lab.ask(portgroups=["pg-rdma"])["not_known"]
    assert [sentence for sentence in reported if "vmnic0" in sentence] == []
    # Where nobody says which adapter is for data, each may be.
    lab.at().portgroups = []
    reported = lab.ask(portgroups=["pg-rdma"])["not_known"]
    assert [sentence.split(":")[0] for sentence in reported if sentence.startswith("esx-01 vmnic0:")] == [
        "esx-01 vmnic0"
    ]


def test_a_switch_is_known_by_its_own_name_where_the_inventory_has_another():
    lab = Lab()
    lab.switches["leaf-02"].hostname = "sw-4711"
    lab.at(2).lldp = [Neighbour("sw-4711.example.com", "Eth1/1", "00:11:22:33:44:55")]
    lab.switches["leaf-02"].neighbours = {}
    answer = lab.ask()
    assert [path["b"] for path in answer["paths"] if path["a"]["name"] == "esx-02"] == [
        {"name": "leaf-02", "port": HOST_PORT}
    ]
    assert not [sentence for sentence in answer["not_known"] if "sw-4711" in sentence]


def test_a_setting_that_a_platform_never_reports_is_apart_from_those_that_are_unknown():
    lab = Lab()
    lab.leaf().pfc, lab.leaf().watchdog = None, None
    lab.switches["leaf-01"].platform = "os10"
    (end,) = [end for end in lab.ask()["ends"] if (end["name"], end["port"]) == ("leaf-01", HOST_PORT)]
    assert (end["unknown"], end["unreported"]) == (["PFC"], ["the watchdog"])
    assert not {"PFC", "the watchdog"} & set(end["known"])


@pytest.mark.parametrize("ports, end", [(1, ("train-09", "ens224")), (2, None)])
def test_a_cable_of_a_port_in_passthrough_mode_ends_at_its_guest(ports, end):
    lab = Lab()
    lab.hosts["train-09"] = [
        adapter("train-09", "leaf-01", name=name, kind="linux", lldp=None) for name in ("ens224", "ens256")[:ports]
    ]
    lab.switches["leaf-01"].ports["Ethernet1/9"] = port()
    lab.switches["leaf-01"].oper["Ethernet1/9"] = running()
    lab.cables = [{"switch": "leaf-01", "port": "Ethernet1/9", "host": "esx-01", "nic": "0000:3a:00.1"}]
    given = {"name": "train-09", "ports": [vars(one) for one in lab.hosts["train-09"]]}
    moved = list(_to_guests(lab.cables, [{**given, "direct": {"host": "esx-01", "nic": "0000:3a:00.1"}}]))
    assert [(one["host"], one["nic"]) for one in moved] == [end or ("esx-01", "0000:3a:00.1")]
    lab.cables = moved
    paths = [(one["a"]["name"], one["a"]["port"]) for one in lab.ask()["paths"] if one["b"]["port"] == "Ethernet1/9"]
    paths += [(one["b"]["name"], one["b"]["port"]) for one in lab.ask()["paths"] if one["a"]["port"] == "Ethernet1/9"]
    assert paths == ([end] if end else [])


@pytest.mark.parametrize(
    "driver, unknown, unreported",
    [
        ("mlx5_core", ["the CNP DSCP"], ["the reaction to ECN marks"]),
        ("bnxt_en", ["the reaction to ECN marks", "the CNP DSCP"], []),
        (None, ["the reaction to ECN marks", "the CNP DSCP"], []),
    ],
)
def test_the_kernels_own_driver_of_a_guests_port_never_reports_the_reaction_to_marks(driver, unknown, unreported):
    lab = Lab()
    own = adapter("train-09", "leaf-01", name="ens224", kind="linux", driver=driver, lldp=None)
    own.ecn = own.cnp_dscp = None
    lab.hosts["train-09"] = [own]
    (end,) = [end for end in lab.ask()["ends"] if end["name"] == "train-09"]
    assert (end["unknown"], end["unreported"]) == (unknown, unreported)


@pytest.mark.parametrize("neighbours", [1, 2, 3])
def test_a_port_with_more_than_one_neighbour_has_two_agents(neighbours):
    lab = Lab()
    lab.at().lldp = [Neighbour("leaf-01", "Eth1/1", f"00:11:22:33:44:5{number}") for number in range(neighbours)]
    found = [one for one in lab.ask()["disagreements"] if one["code"] == "two_lldp_agents"]
    assert [(one["a"]["name"], f"has {neighbours} LLDP neighbours" in one["msg"]) for one in found] == (
        [("esx-01", True)] if neighbours > 1 else []
    )
