# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""One adapter from the request to the proof, on a guest on paper with systemd-networkd."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import interface, interface_params

from unit.plugins.module_utils.guest.a_guest import Clock

from .test_services import networkd
from .world import MAC

REQUEST = {"mac": MAC, "name": None, "mtu": None, "address": None, "backend": "auto", "ping": [], "wait_s": 2}


class Task:
    """The steps of a task, as the runner takes them."""

    def __init__(self, guest, **requested):
        self.warnings = []
        wanted = request(interface_params.InterfaceRequest, {**REQUEST, **requested})
        self.noun = interface.Interface(wanted, guest, guest.files, self.warnings.append, Clock())
        self.item = Item("Adapter", wanted, {"reached": []})
        self.noun.read([self.item])
        self.item.wanted = self.noun.want(self.item)
        self.item.changes = self.noun.compare(self.item.now, self.item.wanted)

    @property
    def paths(self):
        return [change.path for change in self.item.changes]

    def make(self):
        if self.item.changes:
            self.noun.apply([self.item])
            self.noun.prove([self.item])
        else:
            self.noun.keep([self.item])
        return self.item.error


@pytest.fixture
def guest(tmp_path):
    made = networkd(tmp_path, "[Match]\nMACAddress=00:50:56:9a:10:01\n[Network]\n")
    made.files.write("/proc/self/environ", "A=b\0SSH_CONNECTION=192.0.2.1 5000 192.0.2.11 22\0")
    return made


def test_everything_is_set_and_kept_once(guest):
    first = Task(guest, mtu=9000, address="198.51.100.11/24")
    assert first.item.ids == {"reached": [], "name": "ens224", "mac": MAC}
    assert first.paths == ["mtu", "addresses", "kept.mtu", "kept.addresses"]
    assert first.make() is None
    assert (guest.links["ens224"]["mtu"], guest.links["ens224"]["addresses"]) == (9000, ["198.51.100.11/24"])
    assert Task(guest, mtu=9000, address="198.51.100.11/24").paths == []


def test_a_run_that_was_killed_after_writing_is_finished_by_the_next(guest):
    Task(guest, mtu=9000).make()
    guest.links["ens224"]["mtu"] = 1500
    again = Task(guest, mtu=9000)
    assert again.paths == ["mtu"]
    assert again.make() is None
    assert guest.links["ens224"]["mtu"] == 9000


def test_an_address_of_somebody_else_stays_and_our_former_one_goes(guest):
    guest.links["ens224"]["addresses"].append("203.0.113.5/24")
    Task(guest, address="198.51.100.11/24").make()
    Task(guest, address="198.51.100.12/24").make()
    assert guest.links["ens224"]["addresses"] == ["203.0.113.5/24", "198.51.100.12/24"]


def test_what_the_kernel_does_not_take_is_put_back(guest):
    guest.refuses = ("9000",)
    error = Task(guest, mtu=9000).make()
    assert error.code == "kernel_refused"
    assert guest.links["ens224"]["mtu"] == 1500
    assert Task(guest, mtu=1500).item.now.kept.mtu is None


def test_an_mtu_that_the_kernel_forgets_is_put_back(guest):
    guest.answers["ip link set"] = ""
    error = Task(guest, mtu=9000).make()
    assert error.failure == documented("not_up", subject="Adapter ens224", mtu=1500, addresses=[], carrier=True)
    assert "9000" in error.message
    assert Task(guest, mtu=1500).item.now.kept.mtu is None


def test_an_adapter_that_is_off_is_switched_on(guest):
    guest.links["ens224"]["up"] = False
    task = Task(guest, mtu=9000)
    assert task.paths[0] == "up"
    task.make()
    assert guest.links["ens224"]["up"]


@pytest.mark.parametrize(
    "requested, code",
    [
        pytest.param({"mtu": 9001}, "mtu_impossible", id="an MTU that the driver does not take"),
        pytest.param({"address": "192.0.2.11/24"}, "address_taken", id="an address of another adapter"),
        pytest.param({"mac": "00:50:56:9a:00:01", "address": "198.51.100.9/24"}, "way_in", id="the way in"),
        pytest.param({"mac": "00:50:56:9a:00:99"}, "no_such_adapter", id="no such adapter"),
    ],
)
def test_the_impossible_is_refused_before_anything_is_touched(guest, requested, code):
    with pytest.raises(OperatorError) as caught:
        Task(guest, **requested)
    assert caught.value.code == code
    assert not [words for words in guest.said if words.startswith(("ip link", "ip addr"))]


def test_the_mtu_of_the_way_in_can_be_changed(guest):
    guest.answers["networkctl status"] = "  Network File: n/a\n"
    assert Task(guest, mac="00:50:56:9a:00:01", mtu=9000).make() is None


def test_of_adapters_with_one_mac_address_the_device_is_meant_and_not_what_stands_on_it(guest):
    guest.link("ens224.112", MAC, [], kind="vlan")
    assert Task(guest, mtu=9000).item.now.link.name == "ens224"
    guest.link("ens256", MAC, [])
    with pytest.raises(OperatorError, match="Several adapters have this MAC address: ens224, ens256"):
        Task(guest, mtu=9000)


def test_large_packets_that_vanish_are_an_error_that_says_how_large_they_may_be(guest):
    guest.path_mtu, guest.peers = 4200, {"198.51.100.12"}
    Task(guest, mtu=9000, address="198.51.100.11/24").make()
    error = Task(guest, ping=["198.51.100.12"]).make()
    assert (error.code, error.data["largest_mtu"]) == ("path_mtu", 4200)
    guest.path_mtu = 9000
    task = Task(guest, ping=["198.51.100.12", "198.51.100.11", "192.0.2.12"])
    assert task.make() is None
    assert task.item.ids["reached"] == ["198.51.100.12"]


def test_a_single_answer_proves_a_size(guest):
    guest.peers, guest.lost = {"198.51.100.12"}, 2
    Task(guest, mtu=9000, address="198.51.100.11/24").make()
    assert Task(guest, ping=["198.51.100.12"]).make() is None


def test_a_peer_that_does_not_answer_at_all_is_reported_apart(guest):
    Task(guest, mtu=9000, address="198.51.100.11/24").make()
    assert Task(guest, ping=["198.51.100.12"]).make().code == "peer_unreachable"


def test_two_adapters_in_one_network_are_warned_of(guest):
    task = Task(guest, address="192.0.2.12/24")
    task.make()
    assert "ens224 and ens192 are in one network" in task.warnings[0]


@pytest.mark.parametrize(
    "requested, word",
    [
        ({"mac": "00:50"}, "is not a MAC address"),
        ({"name": " "}, "name: it is empty"),
        ({"mtu": 100}, "mtu: 100 is not a valid MTU"),
        ({"address": "198.51.100.255/24"}, "address: 198.51.100.255/24"),
        ({"address": "198.51.100.0/30"}, "address: 198.51.100.0/30"),
        ({"address": "224.0.0.5/24"}, "address: 224.0.0.5/24"),
        ({"address": "198.51.100.11"}, "has no prefix"),
        ({"address": "198.51.100.0/24"}, "is the network or broadcast address"),
        ({"address": "2001:db8::1/64"}, "is not an IPv4 address"),
        ({"address": "127.0.0.1/8"}, "is not valid for an adapter"),
        ({"ping": ["job-02"]}, "ping: job-02 is not an IPv4 address"),
        ({"wait_s": 0}, "wait_s: 0 is too short"),
    ],
)
def test_wrong_parameters_are_reported_before_anything_is_read(requested, word):
    assert word in " ".join(interface_params.check_params({**REQUEST, **requested}))


@pytest.mark.parametrize(
    "requested",
    [
        {},
        {"mac": None, "name": "ens224"},
        {"address": "198.51.100.0/31"},
        {"address": "198.51.100.1/31"},
        {"address": "198.51.100.1/32"},
        {"address": "198.51.100.1/30"},
        {"wait_s": 1},
        {"ping": ["198.51.100.12"]},
    ],
    ids=str,
)
def test_parameters_at_their_limits_are_taken(requested):
    assert interface_params.check_params({**REQUEST, **requested}) == []


@pytest.mark.parametrize("mtu, problems", [(575, 1), (576, 0), (65535, 0), (65536, 1)])
def test_an_mtu_outside_the_limits_is_a_problem(mtu, problems):
    assert len(interface_params.check_params({**REQUEST, "mtu": mtu})) == problems
