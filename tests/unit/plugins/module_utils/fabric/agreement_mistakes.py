# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The classic silent mistakes: what is changed in a fabric that is right, the code and the reported sentence."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Neighbour

from .agreement_lab import HOST_PORT, UPLINK, guest, running

LEAF, UP = f"leaf-01 {HOST_PORT}", f"leaf-01 {UPLINK}"
# SONiC as it is delivered: everything but a few DSCPs goes to traffic class 1.
STOCK = {**dict.fromkeys(range(64), 1), 3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6}


def of_port(name=HOST_PORT, switch="leaf-01", **changes):
    """Change a port of a switch."""

    def change(lab):
        for key, value in changes.items():
            setattr(lab.leaf(name, switch), key, value)

    return change


def of_host(number=1, **changes):
    """Change the adapter of a host."""

    def change(lab):
        for key, value in changes.items():
            setattr(lab.at(number), key, value)

    return change


def of_running(**changes):
    def change(lab):
        lab.switches["leaf-01"].oper[HOST_PORT] = running(**changes)

    return change


def both(*changes):
    return lambda lab: [change(lab) for change in changes]


def of_guest(**changes):
    def change(lab):
        lab.at().dscp = None
        lab.guests["train-01"] = [guest("train-01", **changes)]

    return change


def second_neighbour(lab):
    lab.switches["leaf-01"].neighbours[HOST_PORT].append(Neighbour("esx-01.example.com", "vmnic2", "ee:ff"))


def cable(**ends):
    return lambda lab: lab.cables.append(ends)


def exception(sentence):
    return lambda lab: lab.switches["leaf-01"].exceptions.append(sentence)


MISTAKES = [
    pytest.param(
        of_port(dscp_map=STOCK),
        "dscp_map",
        f"{LEAF} maps DSCP 26 to priority 1, while esx-01 vmnic2 has PFC on priority 3: RoCE packets are not "
        "in the PFC priority and are dropped under load.",
        id="stock map of SONiC",
    ),
    pytest.param(
        of_port(UPLINK, dscp_map=STOCK),
        "dscp_map",
        f"{UP} maps DSCP 26 to priority 1, while spine-01 Ethernet1/1 maps it to priority 3: RoCE packets are "
        "not in the PFC priority and are dropped under load.",
        id="map that is right at the host and wrong towards the spine",
    ),
    pytest.param(
        both(of_port(trust="pcp"), of_running(trust="pcp")),
        "trust",
        f"{LEAF} trusts the VLAN tag (802.1p), while esx-01 vmnic2 marks RoCE with DSCP 26: RoCE is identified"
        " only by DSCP 26; packets without a tag get priority 0 and are dropped under load.",
        id="trust in the VLAN tag",
    ),
    pytest.param(
        of_host(pfc=[4], pfc_sends=[4], pfc_obeys=[4]),
        "pfc_priority",
        f"esx-01 vmnic2 has PFC on priority 4, while {LEAF} has PFC on priority 3: no pause for RoCE takes "
        "effect on this cable, and RoCE packets are dropped there under load in both directions.",
        id="host pauses another priority",
    ),
    pytest.param(
        both(of_port(pfc=[], pfc_mode="off", lossless=[]), of_running(pfc=[])),
        "pfc_one_sided",
        f"{LEAF} has no PFC, while esx-01 vmnic2 has PFC on priority 3: no pause for RoCE takes effect on this"
        " cable, and RoCE packets are dropped there under load in both directions.",
        id="flow control at one end",
    ),
    pytest.param(
        of_host(pfc=[3], pfc_obeys=[], pfc_sends=[3]),
        "pfc_one_sided",
        f"{LEAF} sends pauses for priority 3, while esx-01 vmnic2 does not obey them: RoCE packets from esx-01"
        f" vmnic2 to {LEAF} are dropped under load.",
        id="host asks and does not obey",
    ),
    pytest.param(
        of_port(pfc_sends=False),
        "pfc_one_sided",
        f"{LEAF} sends no pauses for priority 3, while esx-01 vmnic2 would obey them: RoCE packets from esx-01"
        f" vmnic2 to {LEAF} are dropped under load.",
        id="switch obeys and does not ask",
    ),
    pytest.param(
        both(of_port(pfc_mode="auto"), of_running(pfc=[]), of_host(dcbx="off")),
        "pfc_auto",
        f"{LEAF} leaves PFC to DCBX (auto), but nothing was negotiated, while esx-01 vmnic2 sends no DCBX: PFC"
        " on priority 3 is configured but not effective.",
        id="auto that never converges",
    ),
    pytest.param(
        of_running(pfc=[]),
        "pfc_not_acting",
        f"{LEAF} has PFC configured on priority 3 but effective on no priority: RoCE packets are dropped under load.",
        id="configured and not programmed",
    ),
    pytest.param(
        second_neighbour,
        "two_lldp_agents",
        f"{LEAF} has 2 LLDP neighbours (aa:bb, ee:ff): two LLDP agents send on this cable, such as the adapter"
        " firmware and an operating system service; PFC turns off when the wrong agent sends last.",
        id="two agents of LLDP",
    ),
    pytest.param(
        of_port(ecn={3: Marking(150000, 1500000, 100, mark=False)}),
        "wred_drops",
        f"{LEAF} drops RoCE packets early (WRED without ECN): congestion drops packets instead of marking them.",
        id="WRED without ECN",
    ),
    pytest.param(
        of_port("Ethernet1/1", "spine-01", ecn={}),
        "ecn_hop",
        f"spine-01 Ethernet1/1 does not mark packets (ECN is off), while {LEAF} marks them: senders are not "
        "notified of congestion there, and pauses spread.",
        id="ECN on the leaf and not on the spine",
    ),
    pytest.param(
        of_port(strict=[]),
        "cnp_not_strict",
        f"{LEAF} maps congestion notifications (DSCP 48) to priority 6, whose queue is not strict priority: "
        "they wait behind other traffic, and senders slow down too late.",
        id="class of notifications is not strict",
    ),
    pytest.param(
        of_port(dscp_map={**{dscp: dscp >> 3 for dscp in range(64)}, 48: 3}),
        "cnp_with_roce",
        f"{LEAF} maps congestion notifications (DSCP 48) to priority 3, which PFC pauses: notifications are "
        "delayed until the congestion is over.",
        id="notifications in the class of RoCE",
    ),
    pytest.param(
        of_port(dscp_map={**{dscp: dscp >> 3 for dscp in range(64)}, 48: 0}),
        "cnp_map",
        f"{LEAF} maps congestion notifications (DSCP 48) to priority 0, while most of the fabric sets priority"
        " 6: they wait behind other traffic, and senders slow down too late.",
        id="notifications among other traffic",
    ),
    pytest.param(
        of_host(cnp_dscp=4),
        "cnp_dscp",
        "esx-01 vmnic2 sends congestion notifications with DSCP 4, while most of the fabric uses DSCP 48 for "
        f"them: {LEAF} maps them to priority 0, where they wait behind other traffic, and senders slow down "
        "too late.",
        id="notifications with DSCP 4 from one host",
    ),
    pytest.param(
        of_port(pause=True),
        "pause",
        f"{LEAF} uses link-level pause (802.3x) for all traffic, while esx-01 vmnic2 uses only PFC on priority"
        " 3: each end uses only one of the two pause mechanisms, so packets are dropped or all traffic stops.",
        id="global pause at the switch",
    ),
    pytest.param(
        of_host(pause=True),
        "pause",
        f"esx-01 vmnic2 uses link-level pause (802.3x) for all traffic, while {LEAF} uses only PFC on priority"
        " 3: each end uses only one of the two pause mechanisms, so packets are dropped or all traffic stops.",
        id="global pause at the host",
    ),
    pytest.param(
        both(of_port(UPLINK, mtu=1500), lambda lab: lab.switches["leaf-01"].oper.update({UPLINK: running(mtu=1500)})),
        "mtu",
        f"{UP} has MTU 1500, while spine-01 Ethernet1/1 sends packets of up to 9216 bytes: large packets are "
        "dropped there, although a ping works.",
        id="MTU at one hop",
    ),
    pytest.param(
        both(of_port(mtu=9000), of_running(mtu=9000)),
        "mtu_tight",
        f"{LEAF} has MTU 9000, while esx-01 vmnic2 sends packets of up to 9000 bytes: switches that count the "
        "Ethernet header drop the largest packets.",
        id="MTU without room for headers",
    ),
    pytest.param(
        of_port(watchdog=False),
        "watchdog_off",
        f"{LEAF} has PFC but no PFC watchdog: one adapter that sends pauses without end can block the fabric.",
        id="watchdog off",
    ),
    pytest.param(
        of_running(storms=[3]),
        "pfc_storm",
        f"{LEAF} is in a PFC storm, and its watchdog blocks queue 3: RoCE packets are dropped until the peer "
        "stops sending pauses.",
        id="a storm of pauses",
    ),
    pytest.param(
        of_running(storms=[1, 4]),
        "pfc_storm",
        f"{LEAF} is in a PFC storm, and its watchdog blocks queues 1, 4: packets of another priority are "
        "dropped until the peer stops sending pauses.",
        id="a storm of another class",
    ),
    pytest.param(
        both(of_port(pfc=[3, 4], lossless=[3, 4]), of_running(pfc=[3, 4])),
        "pfc_more_priorities",
        f"{LEAF} has PFC on priorities 3 and 4, while most of the fabric sets PFC on priority 3 only: traffic "
        "other than RoCE can also pause ports, and each lossless priority takes buffer from the others.",
        id="flow control on more than one priority",
    ),
    pytest.param(
        of_guest(marks=[]),
        "marks_nothing",
        "train-01 ens192 sets no DSCP on RoCE packets, while most of the fabric uses DSCP 26 for RoCE: "
        "switches treat them like other traffic and drop them under load.",
        id="host marks nothing",
    ),
    pytest.param(
        of_host(stamps=False, dscp=None),
        "stamps_nothing",
        "esx-01 vmnic2 does not set a DSCP on RoCE packets itself, while most of the fabric uses DSCP 26 for "
        "RoCE: host packets have no DSCP, guest packets only that of the guest; unmarked packets are dropped "
        "under load.",
        id="host stamps nothing",
    ),
    pytest.param(
        both(of_port(UPLINK, speed=25), of_host(speed=100)),
        "slow_cable",
        f"{UP} is connected to spine-01 Ethernet1/1 at 25 Gbit/s, while esx-01 vmnic2 has 100 Gbit/s: one RoCE"
        " flow uses one cable and is limited to its speed.",
        id="cable between switches that is slower than an adapter",
    ),
    pytest.param(
        of_guest(marks=[{"by": "rdma_cm", "traffic_class": 104}]),
        "not_ecn_capable",
        "train-01 ens192 does not set the ECN-capable bits (rdma_cm): switches drop its packets instead of "
        "marking them, unless the adapter sets the bits itself.",
        id="traffic class without the bits of ECN",
    ),
    pytest.param(
        of_host(dscp=34),
        "dscp_differs",
        f"esx-01 vmnic2 sets DSCP 34 on RoCE packets, while most of the fabric uses DSCP 26 for RoCE: {LEAF} "
        "maps them to priority 4 and drops them under load.",
        id="host marks another DSCP",
    ),
    pytest.param(
        both(of_host(dscp=34), of_port(dscp_map={26: 3, 34: 3, 48: 6})),
        "dscp_differs",
        f"esx-01 vmnic2 sets DSCP 34 on RoCE packets, while most of the fabric uses DSCP 26 for RoCE: {LEAF} "
        "maps them to priority 3, which is lossless there, but switches without this mapping drop them under "
        "load.",
        id="host marks another DSCP that its switch keeps lossless",
    ),
    pytest.param(
        of_host(dcbx_owner="firmware"),
        "dcbx_unanswered",
        f"esx-01 vmnic2 leaves DCBX to the firmware, which expects settings from the switch, while {LEAF} "
        "sends no DCBX: manual settings are lost with the next restart.",
        id="firmware asks a switch that does not report",
    ),
    pytest.param(
        both(of_port(dcbx="ieee"), of_host(dcbx_owner="os", willing=True)),
        "dcbx_two_owners",
        f"esx-01 vmnic2 is configured by its operating system and in DCBX willing mode, while {LEAF} announces"
        " its own settings: both overwrite each other's settings.",
        id="two owners of DCBX",
    ),
    pytest.param(
        both(of_port(dcbx="ieee"), of_host(dcbx="cee")),
        "dcbx_mode",
        f"esx-01 vmnic2 uses DCBX mode CEE, while {LEAF} uses DCBX mode IEEE: they cannot negotiate priorities.",
        id="two kinds of DCBX",
    ),
    pytest.param(
        of_host(agents=["lldpad"], dcbx_owner="firmware", dcbx=None),
        ["two_lldp_agents", "dcbx_unanswered"],
        "esx-01 vmnic2 sends LLDP from lldpad and the firmware: they overwrite each other's settings, and PFC"
        " turns off after a restart.",
        id="lldpad beside the firmware",
    ),
    pytest.param(
        cable(host="esx-01", nic="vmnic2", switch="leaf-01", port=HOST_PORT, length_m=100),
        "headroom",
        f"{LEAF} reserves headroom for a cable of 40 m, while the cable is 100 m long: packets in flight when "
        "the pause arrives are dropped.",
        id="headroom too small for the cable",
    ),
    pytest.param(
        of_port(lossless=[]),
        "no_headroom",
        f"{LEAF} has PFC on priority 3 but no lossless buffer for it: packets that arrive before the pause "
        "takes effect are dropped.",
        id="flow control without a lossless buffer",
    ),
    pytest.param(
        of_port(pfc_queues={3: 4}),
        "pauses_other_queue",
        f"{LEAF} stops a queue other than the RoCE queue when it receives a pause for priority 3: it continues"
        " to send packets to a peer whose buffer is full.",
        id="pauses stop another queue",
    ),
    pytest.param(
        of_port(queues={**{n: n for n in range(8)}, 0: 3}),
        "queue_shared",
        f"{LEAF} also has priority 0 in the RoCE queue: other traffic is paused together with RoCE and fills "
        "its buffer.",
        id="other traffic in the queue of RoCE",
    ),
    pytest.param(
        of_port(groups={**{n: n for n in range(8)}, 0: 3, 1: 3}),
        "group_shared",
        f"{LEAF} also has priorities 0 and 1 in the RoCE priority group: other traffic is paused together with"
        " RoCE and fills its buffer.",
        id="other traffic in the ingress buffer of RoCE",
    ),
    pytest.param(
        of_running(trust="pcp"),
        "not_acting",
        f"{LEAF} is configured to trust dscp but runs with pcp: its configuration is not effective.",
        id="trust that does not act",
    ),
    pytest.param(
        of_running(mtu=9216 - 33),
        "not_acting",
        f"{LEAF} is configured with MTU 9216 but runs with 9183: its configuration is not effective.",
        id="MTU that does not act",
    ),
    pytest.param(
        of_running(watchdog=False),
        "not_acting",
        f"{LEAF} has a watchdog that is configured but not running: its configuration is not effective.",
        id="watchdog that does not run",
    ),
    pytest.param(
        exception("The service policy names a map of another kind."),
        "switch_exception",
        "leaf-01: The service policy names a map of another kind.",
        id="what the switch itself complains of",
    ),
    pytest.param(
        of_host(pending=["nmlx5_core.pfctx"]),
        "waits_for_restart",
        "esx-01 vmnic2 has settings that are pending reboot (nmlx5_core.pfctx): the checked values change "
        "with the next restart.",
        id="settings that wait for a restart",
    ),
    pytest.param(
        of_host(mtu=1500),
        "mtu",
        "esx-01 vmnic2 has MTU 1500, while train-01 ens192 sends packets of up to 9000 bytes: large packets "
        "of the guest are dropped there, although a ping works.",
        id="MTU of the guest above the host's",
    ),
    pytest.param(
        of_host(ecn=[]),
        "ecn_host",
        "esx-01 vmnic2 does not react to ECN marks for priority 3: it does not slow down when switches mark "
        "its packets.",
        id="congestion control off at the host",
    ),
    pytest.param(
        of_host(trust="pcp"),
        "trust",
        "esx-01 vmnic2 trusts the VLAN tag (802.1p), while most of the fabric sets trust dscp: DSCP 26 does "
        "not select its PFC priority and buffer.",
        id="host trusts the VLAN tag",
    ),
    pytest.param(
        cable(host="esx-02", nic="vmnic2", switch="leaf-01", port=HOST_PORT),
        "cable_elsewhere",
        f"{LEAF} is connected to esx-01 vmnic2 according to LLDP, while the list of cables names esx-02 "
        "vmnic2: the listed cable to esx-02 vmnic2 is plugged in elsewhere, so the check followed another "
        "path.",
        id="cable that is plugged in elsewhere",
    ),
]
