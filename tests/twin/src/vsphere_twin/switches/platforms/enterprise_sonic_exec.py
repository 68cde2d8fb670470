"""The lines of Enterprise SONiC outside the configuration modes: the shell around it, shows and files."""

from __future__ import annotations

from ..dialogue import Reply
from ..sections import Refusal
from .enterprise_sonic_config import INTERFACE, MAPS
from .enterprise_sonic_lines import GRAMMAR

on = GRAMMAR.on
FULL = "Failed to save configuration: No space left on device"


@on("shell", "sonic-cli")
def _enter(session):
    session.mode = "exec"


@on("shell", "exit", "logout")
def _logout(session):
    return Reply(close=True)


@on("exec", "exit")
def _back(session):
    session.mode = "shell"


@on("exec", "configure [ terminal ]")
def _configure(session):
    session.mode = "config"


@on("config", "exit")
def _up(session):
    session.up()


@on("config", "end")
def _end(session):
    session.leave()


@on("exec", "terminal length <lines:0-512>")
def _length(session, lines):
    session.page_lines = lines


# Shows.


@on("exec", "show version")
def _version(session):
    return session.shows.version()


@on("exec", "show running-configuration")
def _running(session):
    return session.device.running()


@on("exec", "show startup-configuration", "show startup-config")
def _startup(session):
    return session.device.startup()


@on("exec", "show running-configuration interface <ports:ports>")
def _running_interface(session, ports):
    return "".join(session.config.block(INTERFACE, port) for port in session.known(ports))


@on("exec", "show interface status")
def _status(session):
    return session.shows.status()


@on("exec", "show interface <ports:ports>")
def _interface(session, ports):
    return "".join(session.shows.interface(port) for port in session.known(ports))


@on("exec", "show qos interface <ports:ports>")
def _qos(session, ports):
    return "".join(session.shows.qos(port) for port in session.known(ports))


@on("exec", "show qos interface <ports:ports> queue <queue:0-7>")
def _qos_queue(session, ports, queue):
    return "".join(session.shows.queue(port, queue) for port in session.known(ports))


@on("exec", "show qos interface <ports:ports> queue all")
def _qos_queues(session, ports):
    return "".join(session.shows.queue(port, queue) for port in session.known(ports) for queue in range(8))


@on("exec", f"show qos map kind={'|'.join(MAPS)} [ <name:WORD> ]")
def _map(session, kind, name=None):
    return session.shows.maps(kind, name)


@on("exec", "show qos wred-policy [ <name:WORD> ]")
def _wred(session, name=None):
    return session.shows.wred(name)


@on("exec", "show qos scheduler-policy [ <name:WORD> ]")
def _scheduler(session, name=None):
    return session.shows.scheduler(name)


@on("exec", "show priority-flow-control watchdog")
def _watchdog(session):
    return session.shows.watchdog()


@on("exec", "show priority-flow-control statistics [ interface <ports:ports> ]")
def _pfc(session, ports=None):
    return session.shows.pfc(session.known(ports))


@on("exec", "show queue counters [ interface <ports:ports> ]")
def _queues(session, ports=None):
    return session.shows.counters(session.known(ports))


@on("exec", "show buffer interface all priority-group", "show buffer interface <ports:ports> priority-group")
def _groups(session, ports=None):
    return session.shows.groups(session.known(ports))


@on("exec", "show lldp table")
def _lldp(session):
    return session.shows.lldp_table()


@on("exec", "show lldp neighbor", "show lldp neighbor <ports:ports>")
def _neighbour(session, ports=None):
    return session.shows.lldp(session.known(ports))


# Restart and saved configuration.


@on("exec", "write memory", "copy running-configuration startup-configuration")
def _save(session):
    if session.switch.full_flash:
        raise Refusal(FULL)
    session.device.save()


@on("exec", "reload", "reboot")
def _reload(session):
    return session.question("System will be rebooted. Continue? [y/N]: ", ("y", "yes"), session.restart)
