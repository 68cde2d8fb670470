"""A twin whose guests are machines, and Ansible on them as an operator has it: over SSH, host keys checked."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import yaml
from pyVmomi import vim

from rehearse import playbook
from vsphere_twin.model import build, cloning, power, provision

GROUP = "training_guests"
CALLBACKS = Path(__file__).parent / "callback"
LIMIT_S = 600  # only what is broken takes so long, however busy this machine is
FRESH = {"cpus": 4, "memory_gb": 8, "memory_reservation": "all", "firmware": "efi", "networks": ["VM Network"]}
GPU = {  # what a VM with a vGPU has to have besides
    "pciPassthru.use64bitMMIO": "TRUE",
    "pciPassthru.64bitMMIOSizeGB": "128",
    "pciPassthru0.cfg.enable_uvm": "1",
}


def until(holds, limit_s=LIMIT_S):
    """Wait until something holds; what the model changes reaches machines a moment later."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "it did not come to hold in time"
        time.sleep(0.05)


def journal(guest, *words):
    """A guest's journal with all that was logged before: it is read only after it has taken what waits for it."""
    for argv in (["journalctl", "--sync"], ["journalctl", "--no-pager", *words]):
        status, out, err = guest.run(argv)
        assert status == 0, err
    return out


class Played(list):
    """The results of a play's tasks on its first host, in their order; {} for a task that was not come to."""

    def __init__(self, run, rows, hosts, count):
        last = max([count - 1, *(row["number"] for row in rows)])
        self.status, self.output = run.status, run.output
        self.by_host = {host: [{} for _number in range(last + 1)] for host in hosts}
        self.states = {host: [""] * (last + 1) for host in hosts}  # ok, changed, failed, skipped, unreachable
        # [(host, task without its role)] of what changed something, in the order in which it did.
        self.done = [(row["host"], row["task"].rpartition(" : ")[2]) for row in rows if row["status"] == "changed"]
        for row in rows:
            self.by_host.setdefault(row["host"], [{} for _number in range(last + 1)])[row["number"]] = row["result"]
            self.states.setdefault(row["host"], [""] * (last + 1))[row["number"]] = row["status"]
        self.seen = []  # what the look showed before each task, and after the last
        super().__init__(self.by_host[hosts[0]] if hosts else [])

    @property
    def changed(self):
        """[(host, number of the task)] of what changed something."""
        return [(host, at) for host, states in self.states.items() for at, one in enumerate(states) if one == "changed"]


class Fresh:
    """A guest for one test."""

    def __init__(self, lab, vm):
        self.twin, self.vm, self.name = lab.twin, vm, vm.name
        self.guest = lab.twin.guest(vm.name)
        self._lab = lab

    def play(self, tasks, **how):
        """Run tasks on it."""
        return self._lab.play(tasks, hosts=[self.name], **how)

    def __getattr__(self, name):
        return getattr(self.guest, name)  # run, put, read, wait, ... of twin.guests.observer


class Lab:
    """One twin with guests, for many tests."""

    def __init__(self, twin, work):
        self.twin, self.work = twin, Path(work)
        self._numbers = itertools.count(1)
        # Sockets of OpenSSH have short names only.
        self._sockets = tempfile.mkdtemp(prefix="cp-")

    def close(self):
        """Nothing of it is left on this machine."""
        shutil.rmtree(self._sockets, ignore_errors=True)

    def guest(self, name):
        """What the twin knows of a guest, past its network."""
        return self.twin.guest(name)

    def fresh(self, power="on", wait=True, **vm):
        """A VM more, as an entry of a seed describes it; it is up unless power is off."""
        entry = {**FRESH, "name": f"fresh-{next(self._numbers):02}", **vm}
        if entry.get("vgpus"):
            entry["extra_config"] = {**GPU, **entry.get("extra_config", {})}
        with self.twin.world.lock:
            made = build.add_vm(self.twin.world, {**entry, "power": power})
        if power == "on" and wait:
            self.guest(made.name).wait()
        return made

    def power_on(self, name):
        """A VM is up, also if it went off."""
        vm = next(one for one in self.twin.world.of_kind("VirtualMachine") if one.name == name)
        with self.twin.world.lock:
            if vm.power != "poweredOn":
                power.power_on(self.twin.world, vm)
        self.guest(name).wait()

    def clone(self, source, name):
        """A copy of a VM, which starts at once."""
        with self.twin.world.lock:
            spec = vim.vm.CloneSpec(location=vim.vm.RelocateSpec(), powerOn=True)
            return cloning.clone(self.twin.world, source, source.parent, name, spec)

    def left_of(self, container):
        """What the engine still has of a guest: its container or its volume."""
        client = self.twin.guests.client
        volume = container.replace("-vm-", "-disk-vm-")
        found = [one.name for one in client.containers.list(all=True, filters={"name": container}, ignore_removed=True)]
        return found + [one.name for one in client.volumes.list(filters={"name": volume})]

    def remove(self, vm):
        """The VM is gone."""
        with self.twin.world.lock:
            if self.twin.world.get(vm.moid) is not vm:
                return
            if vm.power != "poweredOff":
                power.stop(self.twin.world, vm)
            provision.destroy(self.twin.world, vm)

    def play(
        self, tasks, hosts=(GROUP,), check=False, diff=False, become=True, facts=False, variables=None, look=(), **more
    ):
        """Run tasks on guests by their names, or on all; a Played. `more` are further keys of the play.

        look is a command of the first of them, which is run as root between tasks: its output is in .seen.
        """
        hosts = [hosts] if isinstance(hosts, str) else list(hosts)
        play = {"hosts": ",".join(hosts), "gather_facts": facts, "become": become, "vars": dict(variables or {})}
        plays, env = [{**play, "tasks": list(tasks), **more}], {}
        if look:
            env["LOOK"] = json.dumps({"container": self.guest(hosts[0]).container, "argv": look})
        return self.playbook(plays, check=check, diff=diff, count=len(tasks), more=env)

    def playbook(self, plays, check=False, diff=False, count=0, extra=(), more=None):
        """Run plays as data. extra are arguments, more is for the environment."""
        file, results, env, inventory = self._prepared(plays, **(more or {}))
        arguments = [*(["--check"] if check else []), *(["--diff"] if diff else []), *extra]
        run = playbook.run(file, *arguments, env=env, inventory=inventory, kill_after_s=LIMIT_S)
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        rows = [line for line in lines if "host" in line]
        wanted = plays[0]["hosts"].split(",")
        hosts = sorted(self.twin.endpoint()["guests"]) if wanted == [GROUP] else wanted
        played = Played(run, rows, hosts, count)
        played.seen = [line["seen"] for line in lines if "seen" in line]
        return played

    @contextlib.contextmanager
    def begun(self, plays):
        """The process of an ansible-playbook that runs meanwhile; nothing of it is left afterwards."""
        file, _results, env, inventory = self._prepared(plays)
        argv = ["ansible-playbook", "--inventory", str(inventory), str(file)]
        with (file.parent / "output").open("wb") as said:
            process = subprocess.Popen(
                argv, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        try:
            yield process
        finally:
            playbook.kill(process)

    def _prepared(self, plays, **more):
        """(playbook, file for results, environment, inventory) of plays as data."""
        folder = Path(tempfile.mkdtemp(prefix="play-", dir=self.work))
        file, results = folder / "play.yml", folder / "results"
        # As JSON: what a test wrote as text stays text.
        file.write_text(json.dumps(plays), encoding="utf-8")
        results.touch()
        env = playbook.environment(
            folder,
            RESULTS_FILE=str(results),
            ANSIBLE_CALLBACK_PLUGINS=str(CALLBACKS),
            ANSIBLE_CALLBACKS_ENABLED="results",
            ANSIBLE_HOST_KEY_CHECKING="true",
            ANSIBLE_INJECT_FACT_VARS="false",
            ANSIBLE_PIPELINING="true",
            ANSIBLE_SSH_CONTROL_PATH_DIR=self._sockets,
            ANSIBLE_SSH_ARGS="-o ControlMaster=auto -o ControlPersist=30s -o ConnectTimeout=60",
            **more,
        )
        return file, results, env, self.inventory(folder)

    def inventory(self, folder):
        """All guests that are up, as an operator would list them."""
        twin = self.twin.endpoint()
        ssh = f"-o UserKnownHostsFile={twin['known_hosts_file']} -o StrictHostKeyChecking=yes"
        hosts = {
            name: {"ansible_host": guest["address"], "ansible_user": guest["user"]}
            for name, guest in twin["guests"].items()
        }
        shared = {
            "ansible_ssh_private_key_file": twin["ssh_key_file"],
            "ansible_ssh_common_args": ssh,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        file = Path(folder) / "inventory.yml"
        file.write_text(yaml.safe_dump({"all": {"children": {GROUP: {"hosts": hosts, "vars": shared}}}}))
        return file
