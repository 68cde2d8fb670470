"""A guest of the twin without any machine behind it: what it knows is kept between the calls of its programs."""

from __future__ import annotations

import contextlib
import copy
import socket
import time
from pathlib import Path

from vsphere_twin.guests.programs import calls

KERNEL = "6.1.0-18-amd64"
HOST = {
    "name": "esx-01.lab.example",
    "driver": {"family": "nvaie", "version": "550.54.16"},
    "gpus": [{"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}],
    "nics": [
        {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
        {"device": "vmnic1", "model": "cx6dx", "uplink_of": "dvs-rdma"},
    ],
}
VM = {
    "name": "job-01",
    "memory_reservation": "all",
    "firmware": "efi",
    "networks": ["VM Network"],
    "adapters": [{"type": "pvrdma", "network": "pg-rdma"}],
    "vgpus": ["grid_a100-40c"],
    "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "512"},
    "power": "on",
}


class Guest:
    """What a guest knows of itself, kept between the calls of its programs as a real one keeps it."""

    def __init__(self, world, vm):
        self.world, self.vm = world, vm
        self.now = 1_780_000_000.0
        self.state = {"kernel": KERNEL, "installed": {}, "modprobe": ["blacklist nouveau"], "interfaces": []}
        for position, nic in enumerate(vm.nics):
            self.interface(position, nic.macAddress, [f"10.1.{position}.5/24"])
        self.files, self.trees = {}, {}

    def interface(self, position, mac, addresses, mtu=1500, up=True):
        name = f"ens{192 + 32 * position}"
        kept = [one for one in self.state["interfaces"] if one["name"] != name]
        row = {"name": name, "mac": mac, "mtu": mtu, "up": up, "carrier": up, "addresses": addresses}
        self.state["interfaces"] = [*kept, row]

    def driver(self, version="550.54.15", flavour="grid", signed=False, kernel=KERNEL, **more):
        self.state["installed"]["nvidia-driver"] = {"version": version, "flavour": flavour, **more}
        self.state["installed"]["nvidia-module"] = {"kernel": kernel, "signed": signed}
        return self

    def boot(self, **state):
        self.state.update(state, loaded=[], boot=f"{self.now}")
        self.run("lab-hardware", "boot")
        return self

    def ask(self, *argv, **request):
        state = {**copy.deepcopy(self.state), "time": self.now}
        answer = calls.answer(self.world, self.vm, {"argv": list(argv), "guest": state, **request})
        self.files.update(answer["files"])
        self.trees.update(answer["trees"])
        if "/run/lab/loaded" in answer["files"]:
            self.state["loaded"] = answer["files"]["/run/lab/loaded"].split()
        return answer

    def run(self, *argv, **request):
        """(status, everything that was printed)."""
        answer = self.ask(*argv, **request)
        return answer["status"], answer["stdout"] + answer["stderr"]


def listens(port, limit_s=60):
    """Wait until a process of this machine listens on a port; a connection would be taken for the client."""
    wanted, until = f":{int(port):04X}", time.monotonic() + limit_s
    while True:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
        if any(row[1].endswith(wanted) and row[3] == "0A" for row in rows):
            return
        assert time.monotonic() < until, f"Nothing listens on {port}."
        time.sleep(0.02)


@contextlib.contextmanager
def kept_port():
    """A port that refuses connections and that nobody gets by chance. A server may still get and use its number."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Bound to every address: a connection from another address may have the port that is free on this one.
        kept.bind(("", 0))
        yield kept.getsockname()[1]
