"""Lines of Onyx: sessions, shows and files. Lines that set values are in onyx_set."""

from __future__ import annotations

import re

from ..dialogue import Reply
from ..grammar import Grammar
from ..phrases import numbers, vlan_list
from ..sections import Refusal

_RANGE = re.compile(r"1/(\d+)(?:-1/(\d+))?$")


def ports_of(switch, text):
    """Names of the ports of `1/1` or `1/1-1/4`; all for None."""
    if text is None:
        return list(switch.ports)
    found = _RANGE.match(text)
    low, high = int(found[1]), int(found[2] or found[1])
    names = [f"Eth1/{index}" for index in range(low, high + 1)]
    missing = [name for name in names if name not in switch.ports]
    if missing or not names:
        raise Refusal(f"Interface {text} does not exist")
    return names


def _ports(tokens, at):
    return (tokens[at], 1) if _RANGE.match(tokens[at]) else None


def _priorities(tokens, at):
    """`0 1 2` or `0-2`: all numbers that are left."""
    found, taken = set(), 0
    for token in tokens[at:]:
        try:
            found |= numbers(token, 0, 7)
        except ValueError:
            break
        taken += 1
    return (frozenset(found), taken) if taken else None


def _percent(tokens, at):
    return (float(tokens[at]), 1) if re.fullmatch(r"\d+(\.\d+)?", tokens[at]) else None


GRAMMAR = Grammar(ports=_ports, priorities=_priorities, percent=_percent, vlans=vlan_list)
on = GRAMMAR.on


# Sessions.


@on("any", "enable")
def _enable(session):
    if session.mode != "standard":
        return None
    if session.device.enable_password is not None:
        return Reply(ask="Password: ", hidden=True)
    session.mode = "enable"
    return None


@on("enable", "disable")
def _disable(session):
    session.mode, session.prefix = "standard", None


# The short form is known as such: `conf` alone could be `configuration` too.
@on("enable", "configure terminal", "conf t", "conf terminal")
def _configure(session):
    session.mode = "config"


@on("any", "exit", "quit")
def _exit(session):
    if session.prefix:
        session.prefix = None
    elif session.mode == "config":
        session.mode = "enable"
    else:
        return Reply(close=True)
    return None


@on("config", "no configure")
def _leave(session):
    session.mode, session.prefix = "enable", None


@on("any", "?no cli session paging enable")
def _paging(session, no=None):
    session.page_lines = 0 if no else 24


@on("any", "?no cli session prefix-modes enable")
@on("config", "?no cli default prefix-modes enable")
def _prefix_modes(session, no=None):
    session.prefix_modes = not no


@on("any", "terminal length <lines:0-1000>", "terminal width <lines:0-1000>")
def _terminal(session, lines):
    session.page_lines = lines


# Shows.


@on("any", "show version")
def _show_version(session):
    return session.shows.version()


@on("any", "show hosts")
def _show_hosts(session):
    return f"Hostname: {session.device.hostname}\nName server: none\nDomain names: none\n", None


@on("enable", "show running-config", "show configuration running")
def _show_running(session):
    return session.device.running(), None


@on("enable", "show configuration")
def _show_saved(session):
    return session.device.startup(), None


@on("enable", "show configuration files")
def _show_files(session):
    device = session.device
    same = device.saved[device.active].written("") == device.config.written("")
    text = "".join(f"  {name}{' (active)' if name == device.active else ''}\n" for name in device.saved)
    return f"{text}\nActive configuration: {device.active}\nUnsaved changes: {'no' if same else 'yes'}\n", None


@on("preset-standard preset-enable preset-config", "show roce")
def _show_roce(session):
    return session.shows.roce()


@on("any", "show dcb priority-flow-control [ interface ethernet <ports:ports> ]")
def _show_pfc(session, ports=None):
    return session.shows.pfc(session.ports(ports))


@on("any", "show dcb ets [ interface ethernet <ports:ports> ]")
def _show_ets(session, ports=None):
    return session.shows.ets(session.ports(ports))


@on("any", "show interfaces ethernet [ <ports:ports> ] congestion-control")
def _show_congestion(session, ports=None):
    return session.shows.congestion(session.ports(ports))


@on("any", "show qos [ interface ethernet <ports:ports> ]")
def _show_qos(session, ports=None):
    return session.shows.qos(session.ports(ports))


@on("any", "show traffic pool [ <name:WORD> ]")
def _show_pools(session, name=None):
    if name is not None and name not in {pool for pool, *_rest in session.config.all_pools()}:
        raise Refusal(f"Traffic pool {name} does not exist")
    return session.shows.pools(name)


@on("any", "show lldp interfaces")
def _show_lldp(session):
    return session.shows.lldp_interfaces()


@on("any", "show lldp local")
def _show_lldp_local(session):
    return session.shows.lldp_local()


@on("any", "show lldp remote")
def _show_lldp_table(session):
    return session.shows.lldp_table()


@on("any", "show lldp interfaces ethernet [ <ports:ports> ] remote")
def _show_lldp_remote(session, ports=None):
    return session.shows.lldp_remote(session.ports(ports))


@on("any", "show interfaces ethernet [ <ports:ports> ]")
def _show_interfaces(session, ports=None):
    return session.shows.interfaces(session.ports(ports))


@on("any", "show interfaces ethernet [ <ports:ports> ] status")
def _show_status(session, ports=None):
    return session.shows.status(session.ports(ports))


@on("any", "show interfaces ethernet [ <ports:ports> ] counters")
def _show_port_counters(session, ports=None):
    return session.shows.counters(session.ports(ports), "port", None)


@on("any", "show interfaces ethernet [ <ports:ports> ] counters pfc prio <index:0-7>")
def _show_pfc_counters(session, index, ports=None):
    return session.shows.counters(session.ports(ports), "pfc", index)


@on("any", "show interfaces ethernet [ <ports:ports> ] counters tc <index:0-7>")
def _show_class_counters(session, index, ports=None):
    return session.shows.counters(session.ports(ports), "tc", index)


@on("preset-standard preset-enable preset-config", "show interfaces ethernet [ <ports:ports> ] counters roce")
def _show_roce_counters(session, ports=None):
    return session.shows.counters(session.ports(ports), "roce", None)


@on("enable", "clear counters all")
def _clear(session):
    for port in session.switch.ports.values():
        port.counters.clear()


# Files.


@on("enable", "configuration write", "write memory")
def _write(session):
    session.kept(session.device.active)


@on("enable", "configuration write to <name:WORD>")
def _write_to(session, name):
    session.kept(name)
    session.device.active = name


@on("enable", "configuration copy <name:WORD> <to:WORD>")
def _copy(session, name, to):
    _known(session, name)
    if session.switch.full_flash:
        raise Refusal("Failed to copy configuration: No space left on device")
    if to == session.device.active:
        raise Refusal(f"{to} is the active configuration file")
    session.device.saved[to] = session.device.saved[name]


@on("enable", "configuration delete <name:WORD>")
def _delete(session, name):
    _known(session, name)
    if name == session.device.active:
        raise Refusal(f"{name} is the active configuration file")
    del session.device.saved[name]


@on("enable", "configuration switch-to <name:WORD>")
def _switch_to(session, name):
    """The other file becomes active, and the switch restarts with it."""
    _known(session, name)
    session.device.active = name
    session.switch.reload()
    return Reply(close=True)


@on("enable", "reload")
def _reload(session):
    session.switch.reload()
    return Reply(close=True)


def _known(session, name):
    if name not in session.device.saved:
        raise Refusal(f"Configuration file {name} does not exist")
