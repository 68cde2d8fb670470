"""A collection of the same name with the real callbacks, stages that take no time, and a terminal to show them on."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import yaml

from rehearse import playbook

REAL = ("callback", "plugin_utils", "module_utils", "doc_fragments")
SECRET = "hunter2-is-secret"

# Names the file that a reader writes when it has seen what a running task shows.
SEEN = "SEEN_ON_SCREEN"
# Names the file that the action below makes when a long task runs in its worker.
BEGAN = "LONG_TASK_BEGAN"
# A run that was sent a signal ends within this time.
END_S = 60
# Answers as runner.run gives them, and does whatever else a task may do; an action plugin, since those take no time.
ACTION = """
from __future__ import annotations

import os
import time

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import progress


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = self._task.args
        host = task_vars["inventory_hostname"]
        if args.get("unreachable") == host:
            raise AnsibleConnectionFailure("nobody answers")
        for words in args.get("reports", []):
            progress.report(self._display, words)
        seen, until = os.environ.get("SEEN_ON_SCREEN"), time.monotonic() + 60
        while seen and args.get("reports") and not os.path.exists(seen) and time.monotonic() < until:
            time.sleep(0.02)
        if args.get("takes"):
            open(os.environ["LONG_TASK_BEGAN"], "w").close()
            time.sleep(args["takes"])
        changes = [
            {"path": path, "before": before, "after": after, "needs": None}
            for path, (before, after) in args.get("changes", {}).items()
        ]
        failed = args.get("fails") == host
        item = {
            "name": args.get("name", host),
            "changed": bool(changes),
            "before": {change["path"]: change["before"] for change in changes},
            "after": {change["path"]: change["after"] for change in changes},
            "changes": changes,
            "failed": failed,
            "msg": "",
        }
        result.update(changed=item["changed"], **{args.get("key", "host"): item})
        if changes and self._task.diff:
            header = {"before_header": item["name"], "after_header": item["name"]}
            result["diff"] = [dict(header, before=item["before"], after=item["after"])]
        if failed:
            failure = {"code": "not_good", "subject": host}
            result.update(failed=True, msg=host + ": it was to be good. It is bad. Mend it.", failure=failure)
        if args.get("warns"):
            result["warnings"] = [args["warns"]]
        if args.get("deprecates"):
            deprecated = {"msg": args["deprecates"], "version": "9.0.0", "collection_name": "aiready.vsphere"}
            result["deprecations"] = [deprecated]
        return result
"""
ACTIONS = ("host_graphics", "esxi_reboot", "roce_qos", "vm_shape", "vgpu_profile")
INVENTORY = {
    "all": {"vars": {"ansible_connection": "local", "ansible_become": False}},
    "esxi_hosts": {"hosts": {"esx-01": None, "esx-02": None}},
    "switches": {"hosts": {"leaf-01": None, "leaf-02": None, "leaf-03": None}},
}


def task(title, module, more=None, **args):
    return {"name": title, f"aiready.vsphere.{module}": args, **(more or {})}


def debug(text, more=None):
    return {"name": f"Report {text}", "ansible.builtin.debug": {"msg": text}, **(more or {})}


HOSTS = [
    task("Look at the host", "host_graphics", {"register": "__seen"}, warns="The host is old", deprecates="Old hosts"),
    task("Set the graphics type", "host_graphics", changes={"default_type": ["shared", "sharedDirect"]}),
    task("Keep a secret", "host_graphics", {"no_log": True}, changes={"password": ["", SECRET]}),
    task(
        "Restart the host",
        "esxi_reboot",
        changes={"boot_time": ["08:00", "09:00"]},
        reports=["{{ inventory_hostname }}: 60 s away"],
    ),
    task("Try something", "host_graphics", {"ignore_errors": True}, fails="esx-01"),
    {
        "name": "Try something else",
        "block": [task("Fail in a block", "host_graphics", fails="esx-02")],
        "rescue": [debug("rescued")],
    },
    task("Set each", "host_graphics", {"loop": ["a", "b"], "when": "item == 'b'"}, changes={"each": [1, 2]}),
    debug("hidden from nobody", {"when": "inventory_hostname == 'esx-01'"}),
]
FABRIC = [
    task("Reach the switch", "roce_qos", unreachable="leaf-03", key="switch"),
    task("Give RoCE its class", "roce_qos", key="switch", changes={"mtu": [1500, 9000]}, fails="leaf-02"),
]
MACHINES = [task("Shape the VM", "vm_shape", key="vms", name="job-01", changes={"cpus": [8, 16]})]


def plays(hosts, tasks, **more):
    return [{"name": f"Make {hosts} ready", "hosts": hosts, "gather_facts": False, "tasks": tasks, **more}]


class World:
    """The collection below a folder, its playbooks, and what comes of a run."""

    def __init__(self, folder: Path, **stages):
        self.folder = folder
        self.results = folder / "results"
        self.own = folder / "collections" / "ansible_collections" / "aiready" / "vsphere"
        (self.own / "plugins" / "action").mkdir(parents=True)
        (self.own / "playbooks").mkdir()
        (self.own / "galaxy.yml").write_text("namespace: aiready\nname: vsphere\nversion: 0.1.0\n")
        for name in REAL:
            (self.own / "plugins" / name).symlink_to(playbook.ROOT / "plugins" / name)
        for name in ACTIONS:
            (self.own / "plugins" / "action" / f"{name}.py").write_text(ACTION)
        imports = [{"name": name, "ansible.builtin.import_playbook": f"{name}.yml"} for name in stages]
        for name, content in {**stages, "site": imports}.items():
            (self.own / "playbooks" / f"{name}.yml").write_text(yaml.safe_dump(content, sort_keys=False))
        (folder / "inventory.yml").write_text(yaml.safe_dump(INVENTORY))

    def environment(self, **more):
        """As of an operator who set both callbacks."""
        env = {
            **playbook.environment(self.folder),
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder / "collections"),
            "ANSIBLE_STDOUT_CALLBACK": "aiready.vsphere.stages",
            "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record",
            "AIREADY_RESULTS": str(self.results),
            "TERM": "xterm",
            "PYTHONUNBUFFERED": "1",
            BEGAN: str(self.folder / "began"),
            **more,
        }
        env.pop("CI", None)
        return {name: value for name, value in env.items() if value is not None}

    def command(self, *arguments, name="aiready.vsphere.site"):
        return ["ansible-playbook", "--inventory", str(self.folder / "inventory.yml"), name, *arguments]

    def run(self, *arguments, name="aiready.vsphere.site", **env):
        """Its status and its output, without a terminal."""
        ran = subprocess.run(
            self.command(*arguments, name=name),
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            check=False,
        )
        return ran.returncode, ran.stdout

    def end(self, how: signal.Signals, recorded, **env):
        """The output of a run that is sent a signal in its long task, when its record is as expected.

        Not before that task runs: Python ignores an interrupt that arrives while Ansible forks the worker ("Exception
        ignored in: <function _releaseLock>"), and the run then takes as long as the task.
        """
        began = self.folder / "began"
        process = subprocess.Popen(
            self.command(),
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            start_new_session=True,
        )
        while process.poll() is None and not (began.exists() and any(recorded(one) for one in self.records())):
            time.sleep(0.02)
        if how is signal.SIGKILL:
            playbook.kill(process)
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, how)
        try:
            return process.communicate(timeout=END_S)[0]
        except subprocess.TimeoutExpired:
            playbook.kill(process)
            raise AssertionError(f"The run did not end by {how.name}: {process.communicate()[0]}") from None

    def watch(self, *arguments, columns=80, name="aiready.vsphere.site", shown=lambda _lines: True, **env):
        """All that it writes to a terminal, and its lowest lines at each moment; tasks that report wait for `shown`."""
        seen = self.folder / "seen"
        seen.unlink(missing_ok=True)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            command = self.command(*arguments, name=name)
            os.execvpe(command[0], command, self.environment(**{SEEN: str(seen), **env}))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        pieces, screens = [], []
        while True:
            try:
                piece = os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
            screens.append(_lowest_lines(b"".join(pieces)))
            if not seen.exists() and shown(screens[-1]):
                seen.touch()
        os.waitpid(pid, 0)
        os.close(terminal)
        return b"".join(pieces).decode(), screens

    def records(self):
        """The records below the folder of results, in their order."""
        return [json.loads(path.read_text()) for path in sorted(self.results.glob("*/stages.json"))]

    def record(self):
        (found,) = self.records()
        return found


def _lowest_lines(written: bytes) -> list[str]:
    """What the lowest lines show so far; what came last may end within a character or a word to the terminal."""
    whole = re.sub(r"\x1b(\[[0-9;]*)?$", "", written.decode(errors="ignore"))
    return [line.strip() for line in lines_on_screen(whole)[-5:]]


def lines_on_screen(written: str) -> list[str]:
    """What a terminal of any height shows, including what scrolled away; it knows no more than it should be asked."""
    rows, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|.", written, re.DOTALL):
        if part.startswith("\x1b") and part.endswith("A"):
            row -= int(part[2:-1] or 1)
            assert row >= 0
        elif part == "\x1b[J":
            rows[row] = rows[row][:column]
            del rows[row + 1 :]
        elif part.startswith("\x1b"):
            assert part.endswith("m"), part
        elif part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            rows += [""] * (row + 1 - len(rows))
        else:
            rows[row] = rows[row][:column].ljust(column) + part + rows[row][column + 1 :]
            column += 1
    return rows


def changes_of(record, stage):
    """{object: {what: [before, after]}} of a stage."""
    found: dict = {}
    for change in next(entry for entry in record["stages"] if entry["name"] == stage)["changes"]:
        found.setdefault(change["object"], {})[change["what"]] = [change["before"], change["after"]]
    return found
