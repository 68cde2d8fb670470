"""The lines of OS10 outside the configuration modes: sessions, shows, transactions and files."""

from __future__ import annotations

import difflib

from ..dialogue import Reply
from ..sections import Refusal
from .os10_config import CLASSES, INTERFACE, KINDS, POLICIES, QOS_MAP, WRED
from .os10_lines import GRAMMAR

on = GRAMMAR.on


@on("exec", "configure [ terminal ]")
def _configure(session):
    session.mode = "config"


@on("exec", "exit")
def _logout(session):
    return Reply(close=True)


@on("exec", "enable", "disable")
def _privilege(session):
    """There is one level for everybody."""


@on("config", "exit")
def _up(session):
    session.up()


@on("config", "end")
def _end(session):
    session.leave()


@on("exec config", "terminal length <lines:0-512>")
def _length(session, lines):
    session.page_lines = lines


@on("exec config", "terminal width <width:0-512>")
def _width(session, width):
    """Lines are never broken here."""


# Shows.


@on("exec config", "show version")
def _version(session):
    return session.shows.version()


@on("exec config", "show running-configuration [ all ]")
def _running(session):
    return session.device.running()


@on("exec config", "show startup-configuration", "show startup-config")
def _startup(session):
    return session.device.startup()


@on("exec config", "show candidate-configuration")
def _candidate(session):
    return session.config.written(session.switch.version)


@on("exec config", "show running-configuration interface <ports:ports>")
def _running_interface(session, ports):
    return "".join(session.device.config.block(INTERFACE, port) for port in session.known(ports))


@on(
    "exec config",
    "show running-configuration kind=wred|class-map|policy-map|qos-map|interface",
)
def _running_kind(session, kind):
    kinds = {"wred": (WRED,), "class-map": CLASSES.values(), "policy-map": POLICIES.values(), "qos-map": (QOS_MAP,)}
    config = session.device.config
    wanted = tuple(kinds.get(kind, (INTERFACE,)))
    return "".join(config.block(one, name) for one in KINDS if one in wanted for name in config.named(one))


@on("exec config", "show interface [ <ports:ports> ]")
def _interface(session, ports=None):
    return session.shows.interfaces(session.known(ports))


@on("exec config", "show interface status", "show interface <ports:ports> status")
def _status(session, ports=None):
    return session.shows.status(session.known(ports))


@on("exec config", "show interface [ <ports:ports> ] priority-flow-control [ details ]")
def _pfc(session, ports=None):
    return session.shows.pfc(session.known(ports))


@on("exec config", "show queuing statistics interface <ports:ports> [ queue <queue:0-7> ]")
def _queues(session, ports, queue=None):
    return "".join(session.shows.queues(port, queue) for port in session.known(ports))


@on("exec config", "clear qos statistics type queuing interface <ports:ports>")
def _clear_queues(session, ports):
    _clear(session, ports, "tx_packets", "tx_bytes", "tx_drops", "tx_lost")


@on("exec config", "clear counters interface <ports:ports>", "clear counters")
def _clear_all(session, ports=None):
    _clear(session, ports, "")


@on("exec config", "show qos interface <ports:ports>")
def _qos(session, ports):
    return "".join(session.shows.qos_of(port) for port in session.known(ports))


@on("exec config", "show qos system")
def _qos_system(session):
    return session.shows.qos_system()


@on("exec config", "show class-map [ type kind=network-qos|queuing ]")
def _class_maps(session, kind=None):
    return session.shows.classes(kind)


@on("exec config", "show policy-map [ type kind=network-qos|queuing ]")
def _policy_maps(session, kind=None):
    return session.shows.policies(kind)


@on("exec config", "show lldp neighbors")
def _neighbours(session):
    return session.shows.neighbours()


@on("exec config", "show lldp neighbors detail", "show lldp neighbors interface <ports:ports> detail")
def _neighbours_in_detail(session, ports=None):
    return session.shows.neighbours_in_detail(session.known(ports))


@on("exec config", "show lldp dcbx interface <ports:ports>", "show lldp dcbx interface <ports:ports> ets detail")
def _dcbx(session, ports):
    return "".join(session.shows.dcbx(port) for port in session.known(ports))


@on("exec config", "show lldp dcbx interface <ports:ports> pfc [ detail ]")
def _dcbx_pfc(session, ports):
    return "".join(session.shows.dcbx_pfc(port) for port in session.known(ports))


def _clear(session, ports, *prefixes):
    for port in session.known(ports):
        counters = session.switch.ports[port].counters
        for key in [key for key in counters if key.startswith(prefixes)]:
            del counters[key]


# Transactions, and the startup configuration.


@on("exec", "start transaction")
def _start(session):
    if session.candidate is not None:
        raise Refusal("Transaction is already started")
    session.begin()


@on("exec config", "commit")
def _commit(session):
    if session.candidate is None:
        raise Refusal("No transaction is started")
    session.commit()


@on("exec config", "discard")
def _discard(session):
    if session.candidate is None:
        raise Refusal("No transaction is started")
    session.candidate = None


@on("exec config", "show diff candidate-configuration running-configuration")
def _diff(session):
    before = session.device.running().splitlines()
    after = session.config.written(session.switch.version).splitlines()
    lines = [line for line in difflib.ndiff(before, after) if line[:1] in "+-"]
    return "".join(f"{line}\n" for line in lines)


@on(
    "exec config",
    "copy running-configuration startup-configuration",
    "write memory",
)
def _save(session):
    if session.switch.full_flash:
        raise Refusal("Failed to save startup-configuration: No space left on device")
    session.device.save()
    return "Copy completed\n"


@on("exec", "reload")
def _reload(session):
    return session.question("Proceed to reboot the system? [confirm yes/no]:", ("yes",), session.restart)
