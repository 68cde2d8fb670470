"""Guests are machines that follow the model: up and down, on networks with the MTU that the way really has."""

from __future__ import annotations

import pytest

from vsphere_twin.model import build, power
from vsphere_twin.model import guest as guest_model

from .lab import until

PAIR = ("job-01", "job-02")
VLAN_TAG = 4  # Linux lets a packet through that is larger by this


class Way:
    """The way between the data adapters of the pair, tried by packets that may not be split."""

    def __init__(self, guests):
        self._guests = guests
        self._one, self._other = (guests.guest(name) for name in PAIR)
        self.switch = guests.twin.world.of_kind("VmwareDistributedVirtualSwitch")[0]
        for guest in (self._one, self._other):
            guest.run(["ip", "link", "set", "ens224", "mtu", "9000"])
        self._there = self._other.address("ens224")

    def restore(self):
        """As every test finds it."""
        self._guests.twin.control.link(switch="leaf-01", port="Ethernet1", up=True)
        self._guests.twin.world.fabric.switch("leaf-01").device.load(["interface Ethernet1", "mtu 9214"])
        with self._guests.twin.world.lock:
            self.switch.mtu = 9000
            self._guests.twin.world.touch(self.switch)
        self.settled(9000)
        for guest in (self._one, self._other):
            guest.run(["ip", "link", "set", "ens224", "mtu", "1500"])

    def passes(self, size):
        """Whether a packet with so many bytes in it comes back."""
        return (
            self._one.run(["ping", "-M", "do", "-c", "3", "-i", "0.3", "-W", "2", "-s", str(size), self._there])[0] == 0
        )

    def transfers(self, size):
        """Whether so many bytes reach the other side by TCP in a few seconds."""
        listen = "import socket; s = socket.create_server(('', 7007)); c = s.accept()[0]; n = 0\n"
        listen += f"while n < {size}:\n    n += len(c.recv(65536))\nc.send(b'all')"
        self._other.run(["sh", "-c", 'timeout 20 python3 -c "$0" >/dev/null 2>&1 &', listen])
        send = f"import socket, time; time.sleep(1); s = socket.create_connection(('{self._there}', 7007), 5)\n"
        send += f"s.settimeout(4); s.sendall(bytes({size})); print(s.recv(3))"
        return self._one.run(["python3", "-c", send])[1].strip() == "b'all'"

    def settled(self, mtu, reaches=True):
        """Until the adapters of the pair are as the model says."""
        until(lambda: self._guests.twin.guests.plugged("job-01")["ens224"] == (mtu, reaches))


@pytest.fixture
def mtu(guests):
    way = Way(guests)
    way.settled(9000)
    yield way
    way.restore()


def test_guests_are_reached_over_ssh_with_known_host_keys(guests, play):
    played = play([{"ansible.builtin.command": "hostname"}, {"ansible.builtin.command": "id -un"}])
    assert played.status == 0, played.output
    assert {host: [one["stdout"] for one in results] for host, results in played.by_host.items()} == {
        name: [name, "root"] for name in PAIR
    }


def test_a_guest_has_the_adapters_of_its_vm_in_their_order(guests):
    for name in PAIR:
        vm = next(one for one in guests.twin.world.of_kind("VirtualMachine") if one.name == name)
        for interface, nic in zip(("ens192", "ens224"), vm.nics, strict=True):
            assert guests.guest(name).read(f"/sys/class/net/{interface}/address").strip() == nic.macAddress.lower()
            assert guests.guest(name).read(f"/sys/class/net/{interface}/mtu").strip() == "1500"


def test_the_clock_of_a_boot_is_its_own(guests):
    """What identifies a restart, and what two machines must not share."""
    seen = {
        guests.guest(name).read(path)
        for name in PAIR
        for path in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id", "/etc/ssh/ssh_host_ed25519_key.pub")
    }
    assert len(seen) == 6


def test_a_packet_as_large_as_the_way_gets_through_and_no_larger_one(guests, mtu):
    """The way ends at 9000: the distributed switch. 28 bytes are headers."""
    assert [mtu.passes(8972), mtu.passes(8972 + VLAN_TAG + 1)] == [True, False]


def test_the_switch_port_on_the_way_decides_while_guests_run(guests, mtu):
    guests.twin.world.fabric.switch("leaf-01").device.load(["interface Ethernet1", "mtu 4000"])
    mtu.settled(4000)
    assert [mtu.passes(3972), mtu.passes(3972 + VLAN_TAG + 1), mtu.passes(8972)] == [True, False, False]


def test_the_distributed_switch_decides_while_guests_run(guests, mtu):
    with guests.twin.world.lock:
        mtu.switch.mtu = 2000
        guests.twin.world.touch(mtu.switch)
    mtu.settled(2000)
    assert [mtu.passes(1972), mtu.passes(1972 + VLAN_TAG + 1)] == [True, False]


def test_large_packets_vanish_for_tcp_too(guests, mtu):
    """Neither end gets a message: a transfer with segments that do not fit stands still, as in life."""
    with guests.twin.world.lock:
        mtu.switch.mtu = 1500
        guests.twin.world.touch(mtu.switch)
    mtu.settled(1500)
    assert not mtu.transfers(200_000)


def test_a_cable_that_is_pulled_stops_the_fabric_and_not_the_management(guests, mtu):
    guests.twin.control.link(switch="leaf-01", port="Ethernet1", up=False)
    mtu.settled(9000, reaches=False)
    assert not mtu.passes(100)
    assert guests.guest("job-01").run(["ping", "-c", "1", "-W", "60", guests.twin.guests.gateway])[0] == 0


def test_off_and_on_keeps_the_disk(fresh_guest):
    guest = fresh_guest()
    guest.put("/var/lib/kept", b"as it was")
    guest.put("/run/lost", b"memory")
    _power(guest, "off")
    guest.wait(up=False)
    _power(guest, "on")
    guest.wait()
    assert [guest.read("/var/lib/kept"), guest.read("/run/lost"), guest.boots] == ["as it was", None, 2]


def test_a_guest_that_restarts_itself_comes_back(fresh_guest):
    guest = fresh_guest()
    before = guest.read("/proc/sys/kernel/random/boot_id")
    played = guest.play([{"ansible.builtin.reboot": {}}, {"ansible.builtin.command": "hostname"}])
    assert [one.get("rebooted", one.get("stdout")) for one in played] == [True, guest.name]
    assert (guest.boots, guest.vm.power) == (2, "poweredOn")
    assert guest.read("/proc/sys/kernel/random/boot_id") != before


def test_a_guest_that_goes_down_by_itself_is_off_in_vcenter(fresh_guest):
    guest = fresh_guest()
    guest.run(["systemctl", "poweroff"])
    guest.wait(up=False)
    assert not guest.vm.tools_running


def test_a_guest_that_is_asked_to_go_goes(fresh_guest):
    guest = fresh_guest()
    with guest.twin.world.lock:
        power.shut_down_guest(guest.twin.world, guest.vm)
        assert guest.vm.power == "poweredOn"
    guest.wait(up=False)


def test_a_machine_that_loses_power_is_off_in_vcenter(fresh_guest):
    guest = fresh_guest()
    guest.pull_plug()
    guest.wait(up=False)
    assert guest.vm.ip_address is None


def test_reset_starts_anew(fresh_guest):
    guest = fresh_guest()
    guest.put("/run/lost", b"memory")
    with guest.twin.world.lock:
        power.reset(guest.twin.world, guest.vm)
    guest.wait()
    assert (guest.read("/run/lost"), guest.boots) == (None, 2)


def test_a_suspended_guest_goes_on_where_it_was(fresh_guest):
    guest = fresh_guest()
    guest.put("/run/kept", b"memory")
    _power(guest, "suspend")
    assert guest.vm.ip_address is None
    _power(guest, "on")
    guest.wait()
    assert (guest.read("/run/kept"), guest.boots) == ("memory", 1)


def test_nothing_is_left_of_a_guest_that_is_destroyed(guests, fresh_guest):
    guest = fresh_guest()
    name, folder = guest.container, guests.twin.guests.folder / guest.vm.moid
    guests.remove(guest.vm)
    until(lambda: not guests.left_of(name) and not folder.exists())
    # Its host key is the last thing that goes.
    until(lambda: f"lab:{guest.vm.moid}" not in guests.twin.known_hosts_file.read_text())


def test_a_clone_has_a_copy_of_the_disk_and_keys_of_its_own(guests, fresh_guest):
    source = fresh_guest()
    source.put("/etc/kept", b"of the source")
    source.put("/var/lib/docker/kept", b"of its engine")
    copy = guests.clone(source.vm, "copied-01")
    try:
        observer = guests.guest("copied-01").wait()
        assert [observer.read("/etc/kept"), observer.read("/var/lib/docker/kept")] == ["of the source", "of its engine"]
        assert observer.read("/etc/hostname") == f"{source.name}\n"  # nobody has customised it
        for path in ("/etc/machine-id", "/etc/ssh/ssh_host_ed25519_key.pub"):
            assert observer.read(path) != source.read(path)
        observer.put("/etc/kept", b"of the copy")
        assert source.read("/etc/kept") == "of the source"
        assert guests.play([{"ansible.builtin.command": "hostname"}], hosts="copied-01")[0]["stdout"] == source.name
    finally:
        guests.remove(copy)


def test_an_adapter_that_is_added_to_a_running_vm_appears(guests, fresh_guest):
    guest = fresh_guest()
    with guest.twin.world.lock:
        build.add_adapter(guest.twin.world, guest.vm, "pg-rdma", {})
        mac = guest.vm.nics[1].macAddress.lower()
    until(lambda: guest.read("/sys/class/net/ens224/address") == f"{mac}\n")
    assert guest.boots == 1


def test_what_the_guest_sets_is_what_vcenter_shows(guests, fresh_guest):
    guest = fresh_guest(networks=["VM Network", "pg-rdma"])
    guest.run(["ip", "address", "flush", "dev", "ens224"])
    guest.run(["ip", "address", "add", "192.168.77.9/21", "dev", "ens224"])
    key = guest.vm.nics[1].key
    until(lambda: guest.vm.addresses.get(key) == "192.168.77.9")
    assert guest_model.interface(guest.vm, guest.vm.nics[1]).with_prefixlen == "192.168.77.9/21"


def test_engines_in_the_guest_have_a_disk_of_their_own_and_no_other_privilege(guests):
    shown = guests.twin.guests.client.containers.get(guests.guest("job-01").container).attrs["HostConfig"]
    assert not shown["Privileged"]
    assert not shown["Ulimits"]
    assert guests.guest("job-01").run(["mountpoint", "-q", "/var/lib/docker"])[0] == 0


def _power(guest, how):
    world = guest.twin.world
    with world.lock:
        {"on": power.power_on, "off": power.power_off, "suspend": power.suspend}[how](world, guest.vm)
