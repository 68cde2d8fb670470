"""The data path of two guests over a fabric whose MTU the model decides, and what happens to those who get it wrong."""

from __future__ import annotations

import pytest

from .lab import until

CALL = "aiready.vsphere.guest_interface"
UNIT = "/etc/systemd/network/90-dhcp-ens224.network.d/90-aiready.conf"


def call(**params):
    return {"name": "Set the adapter up", CALL: {"name": "ens224", **params}}


@pytest.fixture
def leaf(guests):
    """Sets the MTU of the switch port of job-01, and waits until the fabric has it; put back in the end."""

    def port(mtu):
        guests.twin.world.fabric.switch("leaf-01").device.load(["interface Ethernet1", f"mtu {mtu}"])
        until(lambda: guests.twin.guests.plugged("job-01")["ens224"][0] == min(mtu, 9000))

    yield port
    port(9214)
    for name in ("job-01", "job-02"):
        guests.guest(name).run(["rm", "-f", UNIT])
        guests.guest(name).run(["ip", "link", "set", "ens224", "mtu", "1500"])


def peer(guests, name):
    return guests.guest(name).address("ens224")


def test_a_port_of_a_switch_that_was_forgotten_is_named_by_its_size(guests, leaf):
    leaf(4200)
    both = ["job-01", "job-02"]
    other = peer(guests, "job-02")
    guests.play([call(mtu=9000)], hosts=both)
    (answer,) = guests.play([call(ping=[other], wait_s=3)], hosts=["job-01"])
    assert answer["failure"]["code"] == "path_mtu"
    # Tags of VLANs are not counted by every hop.
    assert 4196 <= answer["failure"]["largest_mtu"] <= 4204
    leaf(9214)
    (answer,) = guests.play([call(mtu=9000, ping=[other])], hosts=["job-01"])
    assert (answer["changed"], answer["interface"]["reached"]) == (False, [other])


def test_a_restart_keeps_mtu_and_address(fresh_guest):
    guest = fresh_guest(networks=["VM Network"], adapters=[{"type": "pvrdma", "network": "pg-rdma"}])
    requested = call(mtu=9000, address="198.51.100.7/24")
    guest.play([requested])
    answers = guest.play([{"name": "Restart", "ansible.builtin.reboot": {}}, requested])
    assert answers[1]["changed"] is False
    assert answers[1]["interface"]["after"]["mtu"] == 9000


def test_the_address_that_ansible_came_by_is_never_changed(fresh_guest):
    guest = fresh_guest(networks=["VM Network"])
    (answer,) = guest.play([{"name": "Cut it off", CALL: {"name": "ens192", "address": "198.51.100.7/24"}}])
    assert answer["failure"]["code"] == "way_in"
