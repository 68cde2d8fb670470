# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A guest with Docker, systemd and NVIDIA's toolkit, as far as their command lines go."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

from unit.answers import Ended, Module

DAEMON = "/etc/docker/daemon.json"
HOOK = "nvidia-container-runtime-hook"
# Between the start of a service and the files that are older or newer than that.
APART_S = 5
GPU = "GPU-11111111-2222-3333-4444-555555555555"


class Dated(Files):
    """Files whose times can be set, which nobody can with the one that reports when a file came."""

    def came_at(self, path):
        return self.changed_at(path) if super().came_at(path) is not None else None


class Guest:
    """Answers commands from its state; every command is noted in `asked`."""

    def __init__(self, root):
        self.files = Dated(str(root))
        self.asked = []
        self.toolkit = "1.20.0"
        self.programs = {"docker", "containerd", "crio", "podman"}
        self.active = {"docker.service": True, "containerd.service": True}
        self.started = dict.fromkeys(self.active, time.monotonic())
        self.memlock = dict.fromkeys(self.active, "8388608")
        self.loaded = {}
        self.containers = []
        self.live_restore = False
        self.version = "20.10.24"
        # What the daemon says of a configuration that it does not live with; None for one that it does.
        self.refuses = lambda _config: None
        self.reloads = True
        # What the journal has, and what services said that it has not taken yet.
        self.journal, self.unwritten = [], []
        self.listing = f"GPU 0: GRID A100-40C (UUID: {GPU})\n"
        self.handed_out = [f"nvidia.com/gpu={name}" for name in ("0", GPU, "all")]
        self.refresh_unit = True
        self.write(DAEMON, "{}")
        self.settle()

    # For tests

    def write(self, path, text):
        self.files.write(path, text)

    def add_toolkit(self):
        """What `docker run --gpus` needs comes, and Docker has not seen it."""
        self.programs.add(HOOK)
        self.write(f"/usr/bin/{HOOK}", "")

    def settle(self):
        """Everything runs with what its files say."""
        self.loaded = json.loads(self.files.text(DAEMON) or "{}")
        self._start(*self.started)

    def daemon(self):
        return json.loads(self.files.text(DAEMON))

    def did(self, *words):
        """How often a command began with these words."""
        return sum(argv[: len(words)] == words for argv in self.asked)

    # For the module

    def find(self, program):
        return f"/usr/bin/{program}" if program in self.programs else None

    def run(self, argv, limit_s=60, stdin="", env=None, network=False):
        argv = tuple(argv)
        self.asked.append(argv)
        name = argv[0].replace("-", "_")
        rc, out, err = getattr(self, f"_{name}")(argv[1:])
        return Done(argv, rc, out, err)

    def _start(self, *units):
        """All that was before lies seconds further back: a busy machine may pause between its looks at two clocks."""
        for path in Path(self.files.at("/")).rglob("*"):
            then = path.lstat().st_mtime - 2 * APART_S
            os.utime(path, (then, then), follow_symlinks=False)
        self.started = {unit: since - 2 * APART_S for unit, since in self.started.items()}
        self.started.update(dict.fromkeys(units, time.monotonic() - APART_S))

    def _docker(self, words):
        if not self.active["docker.service"]:
            return 1, "", "Cannot connect to the Docker daemon"
        if words[0] == "ps":
            return 0, "\n".join(self.containers), ""
        runtimes = {"runc": {"path": "runc"}, **self.loaded.get("runtimes", {})}
        insecure = {name: {"Secure": False} for name in self.loaded.get("insecure-registries", [])}
        info = {
            "ServerVersion": self.version,
            "Runtimes": runtimes,
            "DefaultRuntime": self.loaded.get("default-runtime", "runc"),
            "LiveRestoreEnabled": self.live_restore,
            "RegistryConfig": {"IndexConfigs": {"docker.io": {"Secure": True}, **insecure}},
        }
        return 0, json.dumps(info), ""

    def _systemctl(self, words):
        verb, *rest = words
        if verb == "daemon-reload":
            for unit in self.memlock:
                if "LimitMEMLOCK=infinity" in (
                    self.files.text(f"/etc/systemd/system/{unit}.d/50-aiready-memlock.conf") or ""
                ):
                    self.memlock[unit] = "infinity"
            return 0, "", ""
        unit = rest[0]
        if unit == "nvidia-cdi-refresh.service":
            return self._refresh(verb)
        if verb == "show":
            return 0, self._shown(unit), ""
        if verb == "reload":
            return self._load() if self.reloads else (0, "", "")
        if verb == "restart":
            self._start(unit)
            if unit == "docker.service":
                self.containers = []
                rc, out, err = self._load()
                self.active[unit] = rc == 0
                return rc, out, err
        return 0, "", ""

    def _shown(self, unit):
        known = unit in self.active
        return (
            f"LoadState={'loaded' if known else 'not-found'}\n"
            f"ActiveState={'active' if self.active.get(unit) else 'inactive'}\n"
            f"ExecMainStartTimestampMonotonic={int(self.started.get(unit, 0) * 1e6)}\n"
            f"LimitMEMLOCK={self.memlock.get(unit, '')}\n"
        )

    def _load(self):
        config = json.loads(self.files.text(DAEMON) or "{}")
        word = self.refuses(config)
        if word:
            self.unwritten.append(word)
            return 1, "", "Job for docker.service failed"
        self.loaded = config
        return 0, "", ""

    def _refresh(self, verb):
        if verb == "show":
            return 0, "LoadState=loaded\n" if self.refresh_unit else "LoadState=not-found\n", ""
        self.handed_out = [f"nvidia.com/gpu={name}" for name in ("0", GPU, "all")]
        return 0, "", ""

    def _journalctl(self, words):
        if words == ("--sync",):
            self.journal += self.unwritten
            self.unwritten = []
            return 0, "", ""
        return 0, "\n".join(self.journal), ""

    def _nvidia_smi(self, _words):
        return (0, self.listing, "") if self.listing else (9, "No devices were found\n", "")

    def _nvidia_ctk(self, words):
        if self.toolkit is None:
            return 127, "", "No such file"
        if words[0] == "--version":
            return 0, f"NVIDIA Container Toolkit CLI version {self.toolkit}\ncommit: abc\n", ""
        if words[:2] == ("cdi", "list"):
            return 0, "\n".join(self.handed_out), "level=info"
        if words[:2] == ("cdi", "generate"):
            return self._refresh("restart")
        said = dict(word[2:].split("=", 1) for word in words[2:] if "=" in word)
        return getattr(self, f"_configure_{said['runtime']}")(said, words)

    def _configure_docker(self, said, words):
        tree = json.loads(_text(said["config"]) or "{}")
        tree.setdefault("runtimes", {})[said["nvidia-runtime-name"]] = {"path": said["nvidia-runtime-path"], "args": []}
        if "--set-as-default" in words:
            tree["default-runtime"] = said["nvidia-runtime-name"]
        if "--cdi.enabled" in words:
            # As the real one does it, to the harm of other flags.
            tree["features"] = {"cdi": True}
        _write(said["config"], json.dumps(tree))
        return 0, "", "level=info"

    def _configure_containerd(self, said, _words):
        table = f'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.{said["nvidia-runtime-name"]}.options]'
        own = f'version = 2\n{table}\n  BinaryName = "{said["nvidia-runtime-path"]}"\n'
        if "drop-in-config" not in said:
            _write(said["config"], own)
            return 0, "", ""
        drop_in = said["drop-in-config"]
        pattern = f"{drop_in.rpartition('/')[0]}/*.toml"
        text = _text(said["config"]) or "version = 2\n"
        _write(said["config"], text if pattern in text else f'imports = ["{pattern}"]\n{text}')
        _write(drop_in, own)
        return 0, "", ""


def _text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def answer(noun, requested, key="engine", check=False):
    """What a module would answer."""
    try:
        runner.run(Module(check), noun, [Item("x", requested, {})], key, single=True)
    except Ended as ended:
        return ended.args[0]
    raise AssertionError("the module did not end")
