"""Sample configurations of Dell OS10 for several tests."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10.platform import CONFIG, Os10

USUAL = Intent()
PORTS = ["ethernet1/1/1", "ethernet1/1/2"]
FACTORY = "hostname leaf-04\n!\n" + "".join(f"interface {name}\n no shutdown\n!\n" for name in PORTS)
# The same QoS by an operator: other names, other order, wider indentation, quotes.
BY_HAND = """
hostname leaf-04
!
policy-map type queuing "OUT"
   class Q6
      priority
   class Q3
      random-detect MARK
      bandwidth percent 50
wred MARK
   random-detect ecn
   random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 100
class-map type queuing Q3 match-any
   match queue 3
class-map type queuing Q6
   match queue 6
class-map type network-qos NQ3
   match qos-group 3
policy-map type network-qos PAUSE
   class NQ3
      pause
      pfc-cos 3
trust dscp-map POINTS
   qos-group 6 dscp 48-55
   qos-group 3 dscp 24-31
   qos-group 0 dscp 0-23,32-47,56-63
system qos
   trust-map dscp POINTS
   ets mode on
interface range ethernet1/1/1-1/1/2
   mtu 9216
   flowcontrol receive off
   priority-flow-control mode on
   service-policy input type network-qos PAUSE
   service-policy output type queuing "OUT"
"""
SHOWN = """Ethernet 1/1/1 is up, line protocol is up
Hardware is Eth, address is 44:4c:00:00:00:01
MTU 9216 bytes, IP MTU 9184 bytes
LineSpeed 100G, Auto-Negotiation on
Flowcontrol rx off tx off

Ethernet 1/1/2 is up, line protocol is down
MTU 1532 bytes, IP MTU 1500 bytes
LineSpeed 25G, Auto-Negotiation on
Flowcontrol rx on tx off
"""


def switch(config, **more):
    return Os10().parse({CONFIG: config, **more})


def commands(found, intent=USUAL, ports=tuple(PORTS), exact=True):
    os10 = Os10()
    if intent is None:
        wants = {name: compare.effect(os10.blank(found, name), USUAL) for name in ports}
    else:
        wants = {name: compare.wanted(intent, os10, speed=found.ports[name].speed) for name in ports}
    return os10.render(found, wants, intent, exact).commands


def differing(found, intent=USUAL, ports=tuple(PORTS)):
    wants = {name: compare.wanted(intent, Os10()) for name in ports}
    return compare.changes({name: compare.effect(found.ports[name], intent) for name in ports}, wants)
