"""SONiC's program `config`, as far as the fabric needs it."""

from __future__ import annotations

import copy
import json

from vsphere_twin.shell.interpreter import HungUp, Output

from . import sonic_patch, sonic_qos, sonic_watchdog
from .linux_text import text
from .sonic_click import Command, Failed, Misused, choice, find, integer, parse
from .sonic_patch import Refused
from .sonic_qos import GENERATOR, edit

ROOT_NEEDED = "Root privileges are required for this operation\n"
SAVED = "/etc/sonic/config_db.json"
CHECKPOINTS = "/etc/sonic/checkpoints"
FULL = "[Errno 28] No space left on device: '{}'"


def run(device, shell, argv, stdin):
    """Run one call of config; the caller holds the world's lock."""
    try:
        command, path, words = find(_TREE, ["config"], argv[1:])
        if shell.user != "root":
            return Output("", 1, ROOT_NEEDED)
        arguments, given = parse(command, path, words)
        return Output(command.run(_Call(device, shell, path, stdin), arguments, given) or "")
    except Misused as problem:
        return Output("", 2, problem.usage)
    except Failed as problem:
        return Output(problem.stdout, problem.rc, problem.stderr)


class _Call:
    """Context of a command: the switch, its caller, the files."""

    def __init__(self, device, shell, path, stdin):
        self.device, self.shell, self.path, self.stdin = device, shell, path, stdin

    def read(self, path):
        if path in ("/dev/stdin", "-"):
            return self.stdin()
        if path not in self.shell.files():
            raise Refused(f"[Errno 2] No such file or directory: '{path}'")
        return self.shell.files()[path]

    def document(self, path):
        try:
            return json.loads(self.read(path))
        except ValueError as problem:
            raise Refused(str(problem)) from None

    def write(self, path, content):
        if self.device.switch.full_flash:
            raise Refused(FULL.format(path))
        self.device.files[path] = content

    def refuse(self, said, problem, stdout=""):
        """Print a failure of the updater: its request, its usage, and the reason."""
        usage = Misused(self.path, str(problem), "[OPTIONS] ...").usage
        raise Failed(stdout, f"{said}\n{usage}", 2)

    def ask(self, question, given):
        """Ask a question that -y answers; otherwise the user at the terminal answers it."""
        if not (given.get("yes") or self.stdin().strip().lower()[:1] == "y"):
            raise Failed(f"{question} [y/N]: ", "Aborted!\n")


# -- the generic updater -------------------------------------------------------------------------------------------


def _apply_patch(call, arguments, given):
    device, dry = call.device, given.get("dry")
    lines = ["** DRY RUN EXECUTION **"] if dry else []
    operations = []
    try:
        if given.get("format", "CONFIGDB").upper() != "CONFIGDB":
            raise Refused("the twin reads patches of CONFIGDB alone")
        operations = call.document(arguments[0])
        after = sonic_patch.simulate(device.tables, operations)
        changes = sonic_patch.check(device, device.tables, after)
    except Refused as problem:
        why = f"Failed to apply patch on the following scopes:\n- localhost: {problem}"
        begun = [f"Patch Applier: {line}" for line in sonic_patch.begun(operations)] if operations else []
        call.refuse(f"Failed to apply patch due to: {why}", why, text([*lines, *begun]))
    if not dry:
        _go(device, after)
    return text([*lines, *sonic_patch.reported(operations, changes, dry), "Patch applied successfully."])


def _become(call, target, said, done, dry):
    """Go to a whole configuration, with the checks of a patch."""
    try:
        target = target()
        if not isinstance(target, dict):
            raise Refused("the target is no configuration")
        changes = sonic_patch.check(call.device, call.device.tables, target)
    except Refused as problem:
        call.refuse(said, problem)
    if not dry:
        _go(call.device, target)
    return text([*(["** DRY RUN EXECUTION **"] if dry else []), *sonic_patch.reported(changes, changes, dry), done])


def _go(device, after):
    """Apply a new configuration; if a test cuts the line, a session at a terminal ends the updater half-way."""
    if device.cut_after is None:
        device.change(after)
        return
    steps = list(sonic_patch.states(device.tables, after))
    done, device.cut_after = steps[: device.cut_after], None
    if done:
        device.change(done[-1])
    raise HungUp


def _replace(call, arguments, given):
    said, done = "Failed to replace config", "Config replaced successfully."
    return _become(call, lambda: call.document(arguments[0]), said, done, given.get("dry"))


def _rollback(call, arguments, given):
    def target():
        if _checkpoint_file(arguments[0]) not in call.device.files:
            raise Refused(f"Checkpoint '{arguments[0]}' does not exist")
        return call.document(_checkpoint_file(arguments[0]))

    return _become(call, target, "Failed to rollback config", "Config rolled back successfully.", given.get("dry"))


def _checkpoint_file(name):
    return f"{CHECKPOINTS}/{name}.cp.json"


def _checkpoint(call, arguments, given):
    try:
        call.write(_checkpoint_file(arguments[0]), json.dumps(call.device.tables))
    except Refused as problem:
        call.refuse("Failed to create a config checkpoint", problem)
    return "Checkpoint created successfully.\n"


def _delete_checkpoint(call, arguments, given):
    if call.device.files.pop(_checkpoint_file(arguments[0]), None) is None:
        call.refuse("Failed to delete config checkpoint", f"Checkpoint '{arguments[0]}' does not exist")
    return "Checkpoint deleted successfully.\n"


def _list_checkpoints(call, arguments, given):
    known = [path for path in call.device.files if path.startswith(f"{CHECKPOINTS}/")]
    return json.dumps(sorted(path.rpartition("/")[2].removesuffix(".cp.json") for path in known), indent=4) + "\n"


# -- files ---------------------------------------------------------------------------------------------------------


def _save(call, arguments, given):
    call.ask("Existing files will be overwritten, continue?", given)
    path = arguments[0] if arguments else SAVED
    reported = f"{GENERATOR} -d --print-data > {path}\n"
    try:
        call.write(path, call.device.dump())
    except Refused:
        raise Failed(reported, f"/bin/sh: 1: cannot create {path}: No space left on device\n", 2) from None
    return reported


def _reload(call, arguments, given):
    device = call.device
    if not device.up() and not given.get("force"):
        raise Failed("System is not up. Retry later or use -f to avoid system checks\n")
    call.ask("Clear current config and reload config in config_db format from the default config file(s) ?", given)
    path = arguments[0] if arguments else SAVED
    try:
        tables = call.document(path)
    except Refused:
        raise Failed(f"The config file {path} doesn't exist\n", "Aborted!\n") from None
    device.restart(tables)
    return text(
        [
            "Disabling container monitoring ...",
            "Stopping SONiC target ...",
            f"{GENERATOR} -j {path} --write-to-db",
            "Restarting SONiC target ...",
            "Enabling container monitoring ...",
        ]
    )


# -- ports ---------------------------------------------------------------------------------------------------------


def _pfc_priority(call, arguments, given):
    port, priority, status = arguments
    choice(call.path, "priority", priority, [str(number) for number in range(8)])
    choice(call.path, "status", status, ("on", "off"))
    entry = call.device.tables.get("PORT_QOS_MAP", {}).get(port)
    if entry is None:
        return f"Cannot find interface {port}\n"
    enabled = [one for one in entry.get("pfc_enable", "").split(",") if one]
    if status == "on" and priority in enabled:
        return f"Priority {priority} has already been enabled on {port}\n"
    if status == "off" and priority not in enabled:
        return f"Priority {priority} is not enabled on {port}\n"
    wanted = [*enabled, priority] if status == "on" else [one for one in enabled if one != priority]
    edit(call, "PORT_QOS_MAP", port, {**entry, "pfc_enable": ",".join(sorted(wanted))})
    return ""


def _pfc_asymmetric(call, arguments, given):
    choice(call.path, "status", arguments[1], ("on", "off"))
    _port(call, arguments[0], pfc_asym=arguments[1])


def _mtu(call, arguments, given):
    _port(call, arguments[0], mtu=str(integer(call.path, "interface_mtu", arguments[1], 68, 9216)))


def _startup(call, arguments, given):
    for port in arguments[0].split(","):
        _port(call, port, admin_status="up" if call.path[-1] == "startup" else "down")


def _vlan(call, arguments, given):
    number = integer(call.path, "vid", arguments[0], 1, 4094)
    tables, name = copy.deepcopy(call.device.tables), f"Vlan{number}"
    if call.path[-1] == "add":
        if name in tables.get("VLAN", {}):
            raise Misused(call.path, f"{name} already exists")
        tables.setdefault("VLAN", {})[name] = {"vlanid": str(number)}
    elif tables.get("VLAN", {}).pop(name, None) is None:
        raise Misused(call.path, f"{name} does not exist")
    call.device.change(tables)


def _member(call, arguments, given):
    number, port = integer(call.path, "vid", arguments[0], 1, 4094), arguments[1]
    tables, key = copy.deepcopy(call.device.tables), f"Vlan{number}|{arguments[1]}"
    if f"Vlan{number}" not in tables.get("VLAN", {}):
        raise Misused(call.path, f"Vlan{number} does not exist")
    if port not in tables.get("PORT", {}):
        raise Misused(call.path, "Interface name is invalid. Please enter a valid interface name!!")
    members = tables.setdefault("VLAN_MEMBER", {})
    if call.path[-1] == "add":
        if key in members:
            raise Misused(call.path, f"{port} is already a member of Vlan{number}")
        members[key] = {"tagging_mode": "untagged" if given.get("untagged") else "tagged"}
    elif members.pop(key, None) is None:
        raise Misused(call.path, f"{port} is not a member of Vlan{number}")
    call.device.change(tables)


def _cable(call, arguments, given):
    if not call.device.dynamic():
        raise Misused(call.path, "This command can only be supported on a system with dynamic buffer enabled")
    if arguments[0] not in call.device.tables.get("PORT", {}):
        raise Misused(call.path, f"Port {arguments[0]} doesn't exist")
    if not arguments[1].endswith("m") or not arguments[1][:-1].isdigit():
        raise Misused(call.path, "Invalid cable length")
    tables = copy.deepcopy(call.device.tables)
    tables.setdefault("CABLE_LENGTH", {}).setdefault("AZURE", {})[arguments[0]] = arguments[1]
    call.device.change(tables)


def _port(call, port, **fields):
    entry = call.device.tables.get("PORT", {}).get(port)
    if entry is None:
        raise Misused(call.path, "Interface name is invalid. Please enter a valid interface name!!")
    edit(call, "PORT", port, {**entry, **fields})


def _hostname(call, arguments, given):
    own = call.device.tables["DEVICE_METADATA"]["localhost"]
    edit(call, "DEVICE_METADATA", "localhost", {**own, "hostname": arguments[0]})


_DRY = {"-d": "dry", "--dry-run": "dry", "-v": "verbose", "--verbose": "verbose", "-n": "lax", "-p": "parallel"}
_FORMAT = {"-f": "format", "--format": "format", "-i": "ignore", "--ignore-path": "ignore"}
_YES = {"-y": "yes", "--yes": "yes"}
_FORCE = {"-f": "force", "--force": "force", "-n": "kept", "--no_service_restart": "kept"}
_TREE = {
    "apply-patch": Command(_apply_patch, _FORMAT, _DRY, 1, 1, "[OPTIONS] PATCH_FILE_PATH"),
    "replace": Command(_replace, _FORMAT, _DRY, 1, 1, "[OPTIONS] TARGET_FILE_PATH"),
    "rollback": Command(_rollback, {"-i": "ignore"}, _DRY, 1, 1, "[OPTIONS] CHECKPOINT_NAME"),
    "checkpoint": Command(_checkpoint, {}, {"-v": "verbose"}, 1, 1, "[OPTIONS] CHECKPOINT_NAME"),
    "delete-checkpoint": Command(_delete_checkpoint, {}, {"-v": "verbose"}, 1, 1, "[OPTIONS] CHECKPOINT_NAME"),
    "list-checkpoints": Command(_list_checkpoints, {}, {"-t": "time", "-v": "verbose"}),
    "save": Command(_save, {}, _YES, 0, 1),
    "reload": Command(_reload, {"-t": "format"}, {**_YES, **_FORCE}, 0, 1),
    "hostname": Command(_hostname, {}, {}, 1, 1),
    "qos": sonic_qos.TREE,
    "ecn": sonic_qos.ECN,
    "interface": {
        "pfc": {"priority": Command(_pfc_priority, {}, {}, 3, 3), "asymmetric": Command(_pfc_asymmetric, {}, {}, 2, 2)},
        "mtu": Command(_mtu, {}, {}, 2, 2),
        "startup": Command(_startup, {}, {}, 1, 1),
        "shutdown": Command(_startup, {}, {}, 1, 1),
        "cable_length": Command(_cable, {}, {}, 2, 2),
    },
    "vlan": {
        "add": Command(_vlan, {}, {}, 1, 1),
        "del": Command(_vlan, {}, {}, 1, 1),
        "member": {
            "add": Command(_member, {}, {"-u": "untagged", "--untagged": "untagged"}, 2, 2),
            "del": Command(_member, {}, {}, 2, 2),
        },
    },
    "pfcwd": sonic_watchdog.TREE,
}
