"""Build the inventory that a seed describes."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import (
    as_captured,
    backings,
    bmc,
    boot,
    configuration,
    content,
    defaults,
    files,
    image,
    kernel,
    machine,
    provision,
    reconfigure,
    seed_devices,
    seed_network,
    software,
)
from . import power as powers
from .fabric import Datastore, Network, Switch
from .host import Hardware, Host
from .inventory import (
    DATACENTER_CHILDREN,
    Cluster,
    ComputeResource,
    Datacenter,
    Folder,
    ResourcePool,
    make_folder,
    put,
)
from .release import RELEASES
from .seed_file import SeedError, changed, line_of, within
from .seed_schema import word
from .vm import VirtualMachine

DEVICE = vim.vm.device


def inventory(world, data):
    """Everything, from the root folder down."""
    world.root_folder = world.add(Folder("group-d1", "Datacenters", None, DATACENTER_CHILDREN))
    for entry in data["datacenters"]:
        with world.given_moids(entry.get("moids", ())):
            center = Datacenter(world, entry["name"], None)
        world.add(center)
        put(world, world.root_folder, center)
        _Builder(world, center).fill(entry)


def add_vm(world, entry):
    """Add one VM to the first datacenter, from an entry of a seed's vms."""
    center = world.of_kind("Datacenter")[0]
    builder = _Builder(world, center)
    for found, kinds in (
        (builder.hosts, ("HostSystem",)),
        (builder.stores, ("Datastore",)),
        (builder.networks, ("Network", "DistributedVirtualPortgroup")),
        (builder.computes, ("ClusterComputeResource", "ComputeResource")),
    ):
        found.update((one.name, one) for kind in kinds for one in world.of_kind(kind))
    return builder.vm(entry)


def add_adapter(world, vm, network, row):
    """A network adapter more for a VM, from an entry of a seed's adapters."""
    networks = [*world.of_kind("Network"), *world.of_kind("DistributedVirtualPortgroup")]
    found = next(one for one in networks if one.name == network)
    reconfigure.apply(world, vm, vim.vm.ConfigSpec(deviceChange=[_added(seed_devices.adapter(found, row))]))


class _Builder:
    """The parts of one datacenter, by name."""

    def __init__(self, world, center):
        self.world = world
        self.center = center
        self.hosts: dict[str, Host] = {}
        self.computes: dict[str, ComputeResource] = {}
        self.stores: dict[str, Datastore] = {}
        self.networks: dict[str, object] = {}
        self.switches: list[Switch] = []
        self.vms: dict[str, VirtualMachine] = {}
        self.folders = {"": center.vm_folder}
        self.other_folders = {
            "host": {"": center.host_folder},
            "datastore": {"": center.datastore_folder},
            "network": {"": center.network_folder},
        }
        self.problems = []
        self._wrong = set()  # lines of entries with problems

    def fill(self, entry):
        """Add the whole datacenter; a problem in one entry does not hide one in the next."""
        for path in entry.get("vm_folders", []):
            self._folder(path, self.folders)
        for name, made in self.other_folders.items():
            for path in entry.get(f"{name}_folders", []):
                self._folder(path, made)
        for one in _each(entry.get("datastores", [])):
            self._try(self._datastore, one)
        for one in entry.get("networks", []):
            with self.world.given_moids(one.get("moids", ())):
                network = Network(self.world, one["name"], None, one.get("vlan", 0))
            self.networks[one["name"]] = self._put(self._place("network", one), network)
        for one in entry.get("switches", []):
            self._try(self._switch, one)
        self._end_with_problems()
        for one in _each(entry.get("clusters", [])):
            with self.world.given_moids(one.get("moids", ())):
                cluster = Cluster(self.world, one["name"], None, word(one.get("drs", "manual")), one.get("ha", False))
            self._compute(cluster, one, one.get("hosts", []))
            cluster.options.update({key: str(value) for key, value in one.get("drs_options", {}).items()})
            self._try(lambda found, into=cluster: image.furnish(self.world, into, found), one, "image")
            self._try(lambda found, into=cluster: configuration.furnish(self.world, into, found), one, "configuration")
        for one in _each(entry.get("hosts", [])):
            with self.world.given_moids(one.get("compute_moids", ())):
                compute = ComputeResource(self.world, one["name"], None)
            self._compute(compute, one, [one])
        self._end_with_problems()
        for one in _each(entry.get("vms", [])):
            self._try(self._vm, one)
        self._end_with_problems()
        as_captured.finish(self.world, self.center, entry, self.stores)
        for one in entry.get("libraries", []):
            self._try(lambda found: content.furnish(self.world, found, self.stores, self.vms), one)
        self._end_with_problems()

    def _try(self, work, one, key=None):
        line, number = line_of(one), one.get("n", 1)
        if number > 1 and line is not None and line in self._wrong:
            return  # the first copy of the entry reported it
        try:
            with within(one, key):
                work(one)
        except SeedError as problem:
            self.problems += problem.problems
            self._wrong.add(line)

    def _end_with_problems(self):
        if self.problems:
            raise SeedError(self.problems)

    def _vm(self, one):
        try:
            self.vms[one["name"]] = self.vm(one)
        except vmodl.MethodFault as refusal:
            raise SeedError([f"VM {one['name']}: {refusal.msg}"]) from refusal

    def _put(self, folder, entity):
        return put(self.world, folder, self.world.add(entity))

    def _folder(self, row, made):
        """Make a folder from its path, or from a table with its path and moid."""
        path, moids = (row["path"], [row["moid"]]) if isinstance(row, dict) else (row, [])
        parent, _slash, name = path.rpartition("/")
        if parent not in made:
            self._folder(parent, made)
        with self.world.given_moids(moids):
            made[path] = make_folder(self.world, made[parent], name)

    def _place(self, kind, one):
        """The folder of an entry that is no VM."""
        return self._known(self.other_folders[kind], one.get("folder", ""), "folder", one)

    def _datastore(self, one):
        capacity = one.get("capacity_gb", 10240)
        with self.world.given_moids(one.get("moids", ())):
            store = Datastore(
                self.world, one["name"], None, capacity, one.get("free_gb", capacity), one.get("type", "VMFS")
            )
        store.capacity = one.get("capacity_bytes", store.capacity)
        store.uuid = one.get("uuid", store.uuid)
        self.stores[one["name"]] = self._put(self._place("datastore", one), store)
        files.furnish(self.world, store, one)

    def _switch(self, one):
        folder = self._place("network", one)
        switch, groups = seed_network.make(self.world, lambda entity: self._put(folder, entity), one)
        self.switches.append(switch)
        self.networks.update(groups)

    def _compute(self, compute, one, hosts):
        self._put(self._place("host", one), compute)
        self.computes[one["name"]] = compute
        self._pools(compute, compute.pool, one.get("pools", []))
        for entry in _each(hosts, start=len(self.hosts) + 1):
            self._try(lambda row: self._host(compute, row), entry)

    def _pools(self, compute, parent, rows):
        """Make resource pools from their names, or from tables with name, moid and pools."""
        for row in [one if isinstance(one, dict) else {"name": one} for one in rows]:
            with self.world.given_moids([row["moid"]] if "moid" in row else ()):
                pool = ResourcePool(self.world.new_moid("resgroup"), row["name"], parent, compute)
            parent.pools[pool.moid] = self.world.add(pool)
            self._pools(compute, pool, row.get("pools", []))

    def _host(self, compute, one):
        world = self.world
        release = RELEASES[str(one["release"])] if "release" in one else world.release
        release = as_captured.release(release, one)
        with world.given_moids(one.get("moids", ())):
            host = Host(world, one["name"], compute, release, Hardware(**one.get("hardware", {})))
        host.uuid = one.get("uuid", host.uuid)
        defaults.furnish(host, one)
        host.connection = one.get("connection", "connected")
        host.maintenance = one.get("maintenance", False)
        host.assignment_policy = one.get("assignment_policy", "performance")
        switches = {switch.name: switch for switch in self.switches}
        machine.furnish(host, one, switches)
        machine.vmkernel(host, one, self.networks)
        if host.gpus and all(gpu.configured_type == "sharedDirect" for gpu in host.gpus):
            host.default_graphics_type = "sharedDirect"
        host.default_graphics_type = one.get("default_graphics_type", host.default_graphics_type)
        bmc.furnish(world, host, one)
        kernel.furnish(world, host, one)
        software.furnish(world, host, one)
        boot.awake(host)
        compute.hosts[host.moid] = world.add(host)
        self.hosts[one["name"]] = host
        for store in as_captured.named(one, "datastores", self.stores):
            store.hosts[host.moid] = host
            host.datastores[store.moid] = store
        switches = as_captured.named(one, "switches", {switch.name: switch for switch in self.switches})
        seed_network.join(host, switches, as_captured.named(one, "networks", self.networks))

    def vm(self, one):
        """A VM as the seed describes it."""
        world, number = self.world, one.get("n", 1)
        host = self._host_for(one, number)
        compute = host.compute
        pool = _pool(compute.pool, one.get("pool")) or compute.pool
        if "pool" in one and pool is compute.pool:
            words = f"VM {one['name']}: {compute.name} has no resource pool {one['pool']}."
            raise SeedError([words]).at(line_of(one, "pool"))
        names = sorted(self.stores)
        store = self._known(
            self.stores, one.get("datastore", names[number % len(names)] if names else ""), "datastore", one
        )
        with world.given_moids(one.get("moids", ())):
            vm = VirtualMachine(world, one["name"])
            return self._made(vm, one, host, pool, store)

    def _made(self, vm, one, host, pool, store):
        world = self.world
        vm.host = host
        vm.home = f"[{store.name}] {vm.name}/{vm.name}.vmx"
        vm.firmware = vm.installed_firmware = one.get("firmware", "bios")
        vm.hardware_version = f"vmx-{one.get('hardware_version', min(host.release.newest_hardware, 20))}"
        vm.guest_id = one.get("guest_id", "ubuntu64Guest")
        vm.tools_installed = one.get("tools", "installed") == "installed"
        vm.uuid = one.get("uuid", vm.uuid)
        vm.devices = defaults.vm_hardware(one.get("disk_gb", 100))
        for disk in vm.disks:
            backings.fill(world, vm, disk, "create")
        folder = self._known(self.folders, one.get("folder", ""), "folder", one)
        provision.place(world, vm, folder, pool, host)
        if "devices" in one:
            as_captured.configure(world, vm, one)
        else:
            reconfigure.apply(world, vm, self._spec(one, host))
        vm.connection = one.get("connection", "connected")
        if one.get("template"):
            provision.mark_as_template(world, vm)
        if word(one.get("power", "off")) == "on" and "devices" not in one:
            powers.power_on(world, vm)
        return vm

    def _host_for(self, one, number):
        if "host" in one:
            return self._known(self.hosts, one["host"], "host", one)
        compute = self._known(self.computes, one["cluster"], "cluster", one) if "cluster" in one else None
        hosts = list(compute.hosts.values()) if compute is not None else list(self.hosts.values())
        if not hosts:
            raise SeedError([f"VM {one['name']}: there is no host that it could live on."])
        return hosts[(number - 1) % len(hosts)]

    def _spec(self, one, host):
        spec = vim.vm.ConfigSpec(
            annotation=one.get("annotation", ""),
            numCPUs=one.get("cpus", 2),
            numCoresPerSocket=one.get("cores_per_socket", 1),
            memoryMB=one.get("memory_gb", 4) * 1024,
            memoryReservationLockedToMax=one.get("memory_reservation", "none") == "all",
            extraConfig=[
                vim.option.OptionValue(key=key, value=str(value))
                for key, value in {**defaults.EXTRA_CONFIG, **one.get("extra_config", {})}.items()
            ],
        )
        for name in one.get("networks", []):
            network = self._known(self.networks, name, "network", one, "networks")
            spec.deviceChange.append(_added(seed_devices.adapter(network, {})))
        for row in one.get("adapters", []):
            network = self._known(self.networks, row["network"], "network", row)
            spec.deviceChange.append(_added(seed_devices.adapter(network, row)))
        for name in one.get("vgpus", []):
            backing = DEVICE.VirtualPCIPassthrough.VmiopBackingInfo(vgpu=name)
            spec.deviceChange.append(_added(DEVICE.VirtualPCIPassthrough(key=-1, backing=backing)))
        for row in one.get("pci_devices", []):
            with within(row):
                spec.deviceChange.append(_added(seed_devices.pci_device(host, row)))
        with within(one, "device_groups"):
            grouped = [
                seed_devices.device_group(host, name, -number)
                for number, name in enumerate(one.get("device_groups", []), start=1)
            ]
        if grouped:
            spec.deviceGroups = vim.vm.VirtualDeviceGroups(deviceGroup=[group for group, _members in grouped])
            spec.deviceChange += [_added(member) for _group, members in grouped for member in members]
        return spec

    def _known(self, things, name, what, one, key=None):
        if name not in things:
            words = f"There is no {what} {name!r} in datacenter {self.center.name}."
            known = ", ".join(sorted(filter(None, things)))
            words += f" Use one of {known}, or add it." if known else " Add it."
            raise SeedError([words]).at(line_of(one, key or what))
        return things[name]


def _pool(above, wanted):
    """The pool of a name or moid, at any depth."""
    for pool in above.pools.values() if wanted else ():
        found = pool if wanted in (pool.name, pool.moid) else _pool(pool, wanted)
        if found is not None:
            return found
    return None


def _each(entries, start=1):
    """Yield every entry, as often as its count; {n} in its name is the number."""
    for entry in entries:
        for number in range(start, start + entry.get("count", 1)):
            name = entry["name"].format(n=number) if "count" in entry else entry["name"]
            yield changed(entry, name=name, n=number)


def _added(device):
    return DEVICE.VirtualDeviceSpec(operation="add", device=device)
