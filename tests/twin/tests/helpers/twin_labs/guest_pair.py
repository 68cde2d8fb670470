"""Two guests on hosts of their own with a fabric between, and programs of both that meet."""

from __future__ import annotations

import copy

from vsphere_twin.model import seed as seeds

from .fabric_lab import EOS_LINES, NXOS_LINES, TUNED, lines
from .guest_lab import VM, Guest

LEAF = "leaf-01"
ROOT = "0000:36:02.0"
VFS = {"sriov": True, "num_vfs": 4}


def host(number, path="pvrdma", **more):
    """A host that is ready for a data path."""
    options = dict(TUNED)
    nic = {"device": "vmnic1", "model": "cx6dx", "root": ROOT, "numa_node": 0, "uplink_of": "dvs-rdma"}
    if path == "sriov":
        options["nmlx5_core"] += " max_vfs=4"
        nic["firmware"] = {**VFS, "ats": True}
    found = {
        "name": f"esx-{number:02}.lab.example",
        "driver": {"family": "nvaie", "version": "550.54.16"},
        "module_options": options,
        "kernel": {"atsSupport": True},
        "options": {"Net.PVRDMAVmknic": "vmk1"},
        "rulesets": {"pvrdma": True},
        "gpus": [
            {"board": "a100_pcie_40gb", "root": ROOT, "numa_node": 0, "graphics_type": "sharedDirect", "count": 2}
        ],
        "nics": [{"device": "vmnic0", "model": "i350", "numa_node": 0, "uplink_of": "vSwitch0"}, nic],
        "vmkernel": [
            {"device": "vmk0", "network": "Management Network", "services": ["management"]},
            {"device": "vmk1", "portgroup": "pg-rdma", "mtu": 9000},
        ],
    }
    return {**found, **more}


def seed(path="pvrdma", first=None, second=None, here=None, there=None, leaf="", config=EOS_LINES, mtu=9000, **fabric):
    """Two hosts, each=1 VM on each, and a leaf between; leaf is what was typed there afterwards.

    spine: what was typed at a spine between two leaves, which are there instead.
    """
    each, spine = fabric.pop("each", 1), fabric.pop("spine", None)
    vm = {
        **copy.deepcopy(VM),
        "adapters": [{"type": path, "network": "pg-rdma"}],
        "extra_config": {
            **VM["extra_config"],
            "pciPassthru0.cfg.enable_uvm": "1",
            "pciPassthru.allowP2P": "TRUE",
            "pciPassthru.RelaxACSforP2P": "TRUE",
        },
    }
    hosts = [host(1, path, **(first or {})), host(2, path, **(second or {}))]
    vms = [
        {**vm, "name": f"job-{number:02}", "host": hosts[(number - 1) % 2]["name"], **(how or {})}
        for number, how in enumerate((here, there) * each, start=1)
    ]
    return {
        "release": "8.0.3",
        "users": {"administrator@vsphere.local": "VMware1!"},
        "datacenters": [
            {
                "name": "lab",
                "datastores": [{"name": "ds", "capacity_gb": 2048, "free_gb": 2000}],
                "networks": [{"name": "VM Network"}],
                "switches": [{"name": "dvs-rdma", "mtu": mtu, "uplinks": 1, "portgroups": [{"name": "pg-rdma"}]}],
                "clusters": [{"name": "gpu", "hosts": hosts}],
                "vms": vms,
            }
        ],
        "fabric": _clos(hosts, config, leaf, spine) if spine is not None else _leaf(hosts, config, leaf, fabric),
    }


def _leaf(hosts, config, more, fabric):
    """One switch."""
    one = {"name": LEAF, "platform": "eos", "config": lines(config) + lines(more), **fabric}
    cables = [[f"{host['name']}/vmnic1", f"{LEAF}/Ethernet{n}"] for n, host in enumerate(hosts, start=1)]
    return {"switches": [one], "cables": cables}


def _clos(hosts, config, leaf, spine):
    """A leaf of each host and a spine."""
    names = (LEAF, "leaf-02")
    switches = [{"name": name, "platform": "eos", "config": lines(config)} for name in names]
    switches[0]["config"] += lines(leaf)
    switches.append({"name": "spine-01", "platform": "nxos", "config": lines(NXOS_LINES) + lines(spine)})
    cables = [[f"{host['name']}/vmnic1", f"{name}/Ethernet1"] for host, name in zip(hosts, names, strict=True)]
    cables += [[f"{name}/Ethernet3", f"spine-01/Ethernet1/{n}"] for n, name in enumerate(names, start=1)]
    return {"switches": switches, "cables": cables}


class Pair:
    """The guests, each=2 for two on each host; their interfaces of the data path are 10.1.1.5, 10.1.1.6, ..."""

    def __init__(self, mtu=9000, addresses=(), **how):
        self.world = seeds.from_data(seed(**how))
        vms = sorted(self.world.of_kind("VirtualMachine"), key=lambda one: one.name)
        self.guests = [Guest(self.world, vm) for vm in vms]
        addresses = addresses or [f"10.1.1.{5 + number}/24" for number in range(len(vms))]
        for guest, address in zip(self.guests, addresses, strict=True):
            guest.driver()
            guest.interface(0, guest.vm.nics[0].macAddress, [address.replace("10.1.1.", "10.1.0.")])
            guest.interface(1, guest.vm.nics[1].macAddress, [address], mtu)
            guest.boot(udev_rdma_names=False, modules_load=["rdma_ucm"])

    def meet(self, name, *options, server=(), client=(), to="10.1.1.6"):
        """What (server, client) printed, with their statuses, of a program that is started on both."""
        second = Running(self.guests[1], [name, *options, *server]).go_on(None)
        first = Running(self.guests[0], [name, *options, *client, to]).go_on(None)
        talk((second, first))
        return second, first

    def job(self, *argv, env=(), envs=({}, {})):
        """A program that mpirun started in each guest, as its two ranks."""
        ranks = []
        for number, guest in enumerate(self.guests):
            own = {"OMPI_COMM_WORLD_RANK": str(number), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
            own |= {"PMIX_NAMESPACE": "4711@1", **dict(env), **envs[number]}
            ranks.append(Running(guest, list(argv), env=own).go_on(None))
        return [rank.go_on(None) for rank in ranks]


def talk(*pairs):
    """Go on with programs that meet, one step of all after the other."""
    while any(one.meets for pair in pairs for one in pair):
        for second, first in pairs:
            said = (second.says, first.says)
            second.go_on(said[1])
            first.go_on(said[0])


class Running:
    """A program that is under way, as the client in the guest runs it."""

    def __init__(self, guest, argv, **request):
        self.guest, self.argv, self.request = guest, argv, request
        self.out, self.status, self.meet, self.again, self.waited, self.files = "", None, None, None, 0.0, {}

    @property
    def meets(self):
        return self.meet is not None

    @property
    def says(self):
        return (self.meet or {}).get("say")

    def go_on(self, heard):
        """Ask (again); heard is what the other side said, None where it is gone."""
        if self.status is not None:
            return self
        met = None
        if self.meet is not None:
            met = {"problem": "gone", "peer": "", "text": ""} if heard is None else {"said": heard, "peer": ""}
        answer = self.guest.ask(*self.argv, again=self.again, met=met, **self.request)
        self.out += answer["head"] + answer["stdout"] + answer["stderr"]
        self.waited += answer["delay_s"]
        self.files.update(answer["files"])
        self.meet, self.again = answer["meet"], answer["again"]
        if self.meet is None and answer["again_s"] is None:
            self.status = answer["status"]
        return self
