# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The classic silent mistakes: what is changed in a fabric that is right, the code, and the sentence that is told."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Neighbour

from .agreement_lab import HOST_PORT, UPLINK, guest, running

LEAF, UP = f"leaf-01 {HOST_PORT}", f"leaf-01 {UPLINK}"
# SONiC as it is delivered: everything but a few DSCPs goes to traffic class 1.
STOCK = {**dict.fromkeys(range(64), 1), 3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6}
DROPS = "packets of RoCE are dropped there under load in both directions"


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
        f"{LEAF} puts DSCP 26 into priority 1, while esx-01 vmnic2 pauses priority 3: packets of RoCE are in another "
        "class "
        "than its pauses, and are dropped under load.",
        id="stock map of SONiC",
    ),
    pytest.param(
        of_port(UPLINK, dscp_map=STOCK),
        "dscp_map",
        f"{UP} puts DSCP 26 into priority 1, while spine-01 Ethernet1/1 puts it into priority 3: packets of RoCE are "
        "in "
        "another class than its pauses, and are dropped under load.",
        id="map that is right at the host and wrong towards the spine",
    ),
    pytest.param(
        both(of_port(trust="pcp"), of_running(trust="pcp")),
        "trust",
        f"{LEAF} trusts the VLAN tag (802.1p), while esx-01 vmnic2 marks by DSCP 26: RoCE is known by DSCP 26 alone; "
        "packets "
        "without a tag get priority 0 and are dropped under load.",
        id="trust in the VLAN tag",
    ),
    pytest.param(
        of_host(pfc=[4], pfc_sends=[4], pfc_obeys=[4]),
        "pfc_priority",
        f"esx-01 vmnic2 pauses priority 4, while {LEAF} pauses priority 3: no pause for RoCE ever acts on this "
        "cable, and "
        f"{DROPS}.",
        id="host pauses another priority",
    ),
    pytest.param(
        both(of_port(pfc=[], pfc_mode="off", lossless=[]), of_running(pfc=[])),
        "pfc_one_sided",
        f"{LEAF} pauses nothing, while esx-01 vmnic2 pauses priority 3: no pause for RoCE ever acts on this cable, "
        f"and {DROPS}.",
        id="flow control at one end",
    ),
    pytest.param(
        of_host(pfc=[3], pfc_obeys=[], pfc_sends=[3]),
        "pfc_one_sided",
        f"{LEAF} sends pauses for priority 3, while esx-01 vmnic2 does not obey them: packets of RoCE from esx-01 "
        "vmnic2 to "
        f"{LEAF} are dropped under load.",
        id="host asks and does not obey",
    ),
    pytest.param(
        of_port(pfc_sends=False),
        "pfc_one_sided",
        f"{LEAF} sends no pauses for priority 3, while esx-01 vmnic2 would obey them: packets of RoCE from esx-01 "
        "vmnic2 to "
        f"{LEAF} are dropped under load.",
        id="switch obeys and does not ask",
    ),
    pytest.param(
        both(of_port(pfc_mode="auto"), of_running(pfc=[]), of_host(dcbx="off")),
        "pfc_auto",
        f"{LEAF} leaves flow control to DCBX (auto), and nothing was agreed, while esx-01 vmnic2 speaks no DCBX: "
        "priority 3 is "
        "not paused, although it is configured.",
        id="auto that never converges",
    ),
    pytest.param(
        of_running(pfc=[]),
        "pfc_not_acting",
        f"{LEAF} is set to pause priority 3 and acts on no priority: packets of RoCE are dropped under load.",
        id="configured and not programmed",
    ),
    pytest.param(
        second_neighbour,
        "two_lldp_agents",
        f"{LEAF} sees 2 neighbours (aa:bb, ee:ff): two agents speak LLDP there, such as the firmware of the adapter "
        "and a "
        "service of its system, and flow control goes off when the wrong one answers last.",
        id="two agents of LLDP",
    ),
    pytest.param(
        of_port(ecn={3: Marking(150000, 1500000, 100, mark=False)}),
        "wred_drops",
        f"{LEAF} drops packets of RoCE early (WRED without ECN): they are lost where they should be marked.",
        id="WRED without ECN",
    ),
    pytest.param(
        of_port("Ethernet1/1", "spine-01", ecn={}),
        "ecn_hop",
        f"spine-01 Ethernet1/1 marks nothing, while {LEAF} marks: senders do not hear of congestion there, and "
        "pauses spread.",
        id="ECN on the leaf and not on the spine",
    ),
    pytest.param(
        of_port(strict=[]),
        "cnp_not_strict",
        f"{LEAF} puts congestion notifications (DSCP 48) into priority 6, whose queue does not go first: they wait "
        "behind "
        "other traffic, and senders slow down too late.",
        id="class of notifications is not strict",
    ),
    pytest.param(
        of_port(dscp_map={**{dscp: dscp >> 3 for dscp in range(64)}, 48: 3}),
        "cnp_with_roce",
        f"{LEAF} puts congestion notifications (DSCP 48) into priority 3, which is paused: senders hear of "
        "congestion when it "
        "is over.",
        id="notifications in the class of RoCE",
    ),
    pytest.param(
        of_port(dscp_map={**{dscp: dscp >> 3 for dscp in range(64)}, 48: 0}),
        "cnp_map",
        f"{LEAF} puts congestion notifications (DSCP 48) into priority 0, while most of the fabric wants priority 6: "
        "they wait "
        "behind other traffic, and senders slow down too late.",
        id="notifications among other traffic",
    ),
    pytest.param(
        of_host(cnp_dscp=4),
        "cnp_dscp",
        "esx-01 vmnic2 sends congestion notifications with DSCP 4, while most of the fabric knows them by DSCP 48: "
        f"{LEAF} puts them into priority 0, where they wait behind other traffic, and senders slow down too late.",
        id="notifications with DSCP 4 from one host",
    ),
    pytest.param(
        of_port(pause=True),
        "pause",
        f"{LEAF} pauses all traffic of the link (802.3x), while esx-01 vmnic2 pauses priority 3 alone: one of the "
        "two mechanisms is off at "
        "each end, and packets are dropped or everything stands still.",
        id="global pause at the switch",
    ),
    pytest.param(
        of_host(pause=True),
        "pause",
        f"esx-01 vmnic2 pauses all traffic of the link (802.3x), while {LEAF} pauses priority 3 alone: one of the "
        "two mechanisms is off at "
        "each end, and packets are dropped or everything stands still.",
        id="global pause at the host",
    ),
    pytest.param(
        both(of_port(UPLINK, mtu=1500), lambda lab: lab.switches["leaf-01"].oper.update({UPLINK: running(mtu=1500)})),
        "mtu",
        f"{UP} carries 1500 bytes, while spine-01 Ethernet1/1 sends up to 9216: large packets vanish there, while a "
        "ping "
        "works.",
        id="MTU at one hop",
    ),
    pytest.param(
        both(of_port(mtu=9000), of_running(mtu=9000)),
        "mtu_tight",
        f"{LEAF} carries 9000 bytes, while esx-01 vmnic2 sends up to 9000: switches that count the Ethernet header "
        "drop the "
        "largest packets.",
        id="MTU without room for headers",
    ),
    pytest.param(
        of_port(watchdog=False),
        "watchdog_off",
        f"{LEAF} pauses and has no watchdog: one adapter that never stops to send pauses freezes the fabric.",
        id="watchdog off",
    ),
    pytest.param(
        of_running(storms=[3]),
        "pfc_storm",
        f"{LEAF} has a storm of pauses now, and its watchdog holds up queue 3: packets of RoCE are dropped "
        "until the peer stops pausing.",
        id="a storm of pauses",
    ),
    pytest.param(
        of_running(storms=[1, 4]),
        "pfc_storm",
        f"{LEAF} has a storm of pauses now, and its watchdog holds up queues 1, 4: packets of another class "
        "are dropped until the peer stops pausing.",
        id="a storm of another class",
    ),
    pytest.param(
        both(of_port(pfc=[3, 4], lossless=[3, 4]), of_running(pfc=[3, 4])),
        "pfc_more_priorities",
        f"{LEAF} pauses priorities 3 and 4, while most of the fabric wants priority 3 alone: what is not RoCE can "
        "stop ports "
        "too, and each class takes buffer from the others.",
        id="flow control on more than one priority",
    ),
    pytest.param(
        of_guest(marks=[]),
        "marks_nothing",
        "train-01 ens192 puts no DSCP on packets of RoCE, while most of the fabric knows RoCE by DSCP 26: switches "
        "treat them "
        "as any other traffic, and drop them under load.",
        id="host marks nothing",
    ),
    pytest.param(
        of_host(stamps=False, dscp=None),
        "stamps_nothing",
        "esx-01 vmnic2 puts no DSCP of its own on packets of RoCE, while most of the fabric knows RoCE by DSCP 26: "
        "those of the host have none, and those of guests what a guest says; what has none is dropped under load.",
        id="host stamps nothing",
    ),
    pytest.param(
        both(of_port(UPLINK, speed=25), of_host(speed=100)),
        "slow_cable",
        f"{UP} has a cable of 25 Gbit/s to spine-01 Ethernet1/1, while esx-01 vmnic2 has 100 Gbit/s: one flow of RoCE "
        "goes by one cable, and gets no more than that.",
        id="cable between switches that is slower than an adapter",
    ),
    pytest.param(
        of_guest(marks=[{"by": "rdma_cm", "traffic_class": 104}]),
        "not_ecn_capable",
        "train-01 ens192 does not say that its packets may be marked (rdma_cm): switches drop them where they would "
        "mark them, "
        "unless the adapter sets the bits itself.",
        id="traffic class without the bits of ECN",
    ),
    pytest.param(
        of_host(dscp=34),
        "dscp_differs",
        f"esx-01 vmnic2 puts DSCP 34 on packets of RoCE, while most of the fabric knows RoCE by DSCP 26: {LEAF} puts "
        "them into "
        "priority 4, and drops them under load.",
        id="host marks another DSCP",
    ),
    pytest.param(
        both(of_host(dscp=34), of_port(dscp_map={26: 3, 34: 3, 48: 6})),
        "dscp_differs",
        f"esx-01 vmnic2 puts DSCP 34 on packets of RoCE, while most of the fabric knows RoCE by DSCP 26: {LEAF} puts "
        "them into priority 3, which is lossless there, and switches without this mapping drop them under load.",
        id="host marks another DSCP that its switch keeps lossless",
    ),
    pytest.param(
        of_host(dcbx_owner="firmware"),
        "dcbx_unanswered",
        f"esx-01 vmnic2 leaves its settings to the firmware, which asks the switch, while {LEAF} announces nothing: "
        "what was "
        "set by hand goes away with the next restart.",
        id="firmware asks a switch that does not tell",
    ),
    pytest.param(
        both(of_port(dcbx="ieee"), of_host(dcbx_owner="os", willing=True)),
        "dcbx_two_owners",
        f"esx-01 vmnic2 is set by its operating system and willing to take other settings, while {LEAF} announces "
        "its own: "
        "two owners overwrite each other.",
        id="two owners of DCBX",
    ),
    pytest.param(
        both(of_port(dcbx="ieee"), of_host(dcbx="cee")),
        "dcbx_mode",
        f"esx-01 vmnic2 speaks DCBX of the kind CEE, while {LEAF} speaks IEEE: they never agree on priorities.",
        id="two kinds of DCBX",
    ),
    pytest.param(
        of_host(agents=["lldpad"], dcbx_owner="firmware", dcbx=None),
        ["two_lldp_agents", "dcbx_unanswered"],
        "esx-01 vmnic2 has lldpad and the firmware speak LLDP: they overwrite each other's settings, and flow "
        "control goes "
        "off after a restart.",
        id="lldpad beside the firmware",
    ),
    pytest.param(
        cable(host="esx-01", nic="vmnic2", switch="leaf-01", port=HOST_PORT, length_m=100),
        "headroom",
        f"{LEAF} keeps headroom for a cable of 40 m, while the cable has 100 m: packets that are under way when the "
        "pause "
        "arrives find no room.",
        id="headroom too small for the cable",
    ),
    pytest.param(
        of_port(lossless=[]),
        "no_headroom",
        f"{LEAF} pauses priority 3 and keeps no lossless buffer for it: what arrives until the pause acts is dropped.",
        id="flow control without a lossless buffer",
    ),
    pytest.param(
        of_port(pfc_queues={3: 4}),
        "pauses_other_queue",
        f"{LEAF} stops another queue than RoCE's when it is asked to pause priority 3: packets go on to a peer that "
        "has no "
        "room for them.",
        id="pauses stop another queue",
    ),
    pytest.param(
        of_port(queues={**{n: n for n in range(8)}, 0: 3}),
        "queue_shared",
        f"{LEAF} has priority 0 in the queue of RoCE too: other traffic is paused with RoCE, and fills its buffer.",
        id="other traffic in the queue of RoCE",
    ),
    pytest.param(
        of_port(groups={**{n: n for n in range(8)}, 0: 3, 1: 3}),
        "group_shared",
        f"{LEAF} has priorities 0 and 1 in the priority group of RoCE too: other traffic is paused with RoCE, and "
        "fills its "
        "buffer.",
        id="other traffic in the ingress buffer of RoCE",
    ),
    pytest.param(
        of_running(trust="pcp"),
        "not_acting",
        f"{LEAF} is set to trust dscp and runs with pcp: its configuration does not act.",
        id="trust that does not act",
    ),
    pytest.param(
        of_running(mtu=9216 - 33),
        "not_acting",
        f"{LEAF} is set to an MTU of 9216 and runs with 9183: its configuration does not act.",
        id="MTU that does not act",
    ),
    pytest.param(
        of_running(watchdog=False),
        "not_acting",
        f"{LEAF} has a watchdog that does not run: its configuration does not act.",
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
        "esx-01 vmnic2 is set to what does not act yet (nmlx5_core.pfctx): what was checked changes with the next "
        "restart.",
        id="settings that wait for a restart",
    ),
    pytest.param(
        of_host(mtu=1500),
        "mtu",
        "esx-01 vmnic2 carries 1500 bytes, while train-01 ens192 sends up to 9000: large packets of the guest vanish "
        "there, "
        "while a ping works.",
        id="MTU of the guest above the host's",
    ),
    pytest.param(
        of_host(ecn=[]),
        "ecn_host",
        "esx-01 vmnic2 does not react to congestion for priority 3: switches mark its packets in vain.",
        id="congestion control off at the host",
    ),
    pytest.param(
        of_host(trust="pcp"),
        "trust",
        "esx-01 vmnic2 trusts the VLAN tag (802.1p), while most of the fabric wants trust in dscp: its pauses and "
        "buffers are "
        "not those of DSCP 26.",
        id="host trusts the VLAN tag",
    ),
    pytest.param(
        cable(host="esx-02", nic="vmnic2", switch="leaf-01", port=HOST_PORT),
        "cable_elsewhere",
        f"{LEAF} leads to esx-01 vmnic2 by LLDP, while the list of cables says esx-02 vmnic2: the cable to esx-02 "
        "vmnic2 that was "
        "told is plugged in elsewhere, and what was checked there is another path.",
        id="cable that is plugged in elsewhere",
    ),
]
