# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each service keeps what it had, and what is wanted beside it."""

from __future__ import annotations

import sys

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter, ini, services
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import netplan as netplan_module

from .world import MAC, Guest

NETWORKD = {"systemctl is-active": "", "networkctl reload": ""}
STATIC = "[Match]\nMACAddress=00:50:56:9a:10:01\n[Network]\nAddress=192.0.2.5/24\n"
GLOB = "[Match]\nName=en*\n[Network]\nDHCP=yes\n[Link]\nMTUBytes=1400\n"


def service(guest, name="auto"):
    link = adapter.find(adapter.read_all(guest), mac=MAC)
    return services.choose(name, link, guest, guest.files), link


def networkd(root, text, path="/run/systemd/network/10-x.network"):
    guest = Guest(root, {**NETWORKD, "networkctl status": f"  Network File: {path if text else 'n/a'}\n"})
    if text:
        guest.files.write(path, text)
    return guest


def kept(guest, mtu, address, name="auto"):
    """(MTU, addresses) that are kept after a change."""
    chosen, link = service(guest, name)
    chosen.write(link, chosen.read(link), mtu, address)
    found = chosen.read(link)
    return found.mtu, found.addresses


def test_networkd_gets_an_addition_to_a_file_for_the_adapter_alone(tmp_path):
    guest = networkd(tmp_path, STATIC)
    assert kept(guest, 9000, "198.51.100.11/24") == (9000, ["192.0.2.5/24", "198.51.100.11/24"])
    assert guest.files.text("/run/systemd/network/10-x.network") == STATIC
    assert kept(guest, 4200, "198.51.100.12/24") == (4200, ["192.0.2.5/24", "198.51.100.12/24"])


def test_networkd_gets_a_file_of_its_own_where_one_is_for_many_adapters(tmp_path):
    guest = networkd(tmp_path, GLOB)
    chosen, link = service(guest)
    chosen.write(link, chosen.read(link), 9000, None)
    own = "/etc/systemd/network/05-aiready-ens224.network"
    guest.answers["networkctl status"] = f"  Network File: {own}\n"
    assert chosen.read(link).mtu == 9000
    sections = ini.parse(guest.files.text(own))
    assert ini.values(sections, "Match", "MACAddress") == [MAC]
    assert ini.values(sections, "Network", "DHCP") == ["yes"]
    assert guest.files.text("/run/systemd/network/10-x.network") == GLOB


def test_networkd_takes_an_adapter_that_nobody_spoke_of(tmp_path):
    assert kept(networkd(tmp_path, None), 9000, "198.51.100.11/24") == (9000, ["198.51.100.11/24"])


def test_what_was_written_is_taken_back_whole(tmp_path):
    guest = networkd(tmp_path, None)
    chosen, link = service(guest)
    chosen.write(link, chosen.read(link), 9000, None)
    chosen.undo()
    assert guest.files.names("/etc/systemd/network") == ["05-aiready-ens224.network.d"]


def netplan(root, ethernets):
    text = yaml.safe_dump({"network": {"version": 2, "ethernets": ethernets}})
    guest = Guest(root, {"netplan generate": "", "netplan apply": "", "netplan get": text}, ["netplan"])
    guest.files.write("/etc/netplan/50-x.yaml", text)
    return guest


@pytest.mark.parametrize(
    "ethernets, name",
    [
        pytest.param({"ens224": {"dhcp4": True}}, "ens224", id="by its name"),
        pytest.param({"data": {"match": {"macaddress": MAC.upper()}}}, "data", id="by its MAC address"),
        pytest.param({"all": {"match": {"name": "en*"}, "dhcp6": True}}, "aiready-ens224", id="one of many"),
        pytest.param({"ens192": {}}, "ens224", id="not at all"),
        pytest.param({"all": {"match": {"driver": "vmxnet3"}}}, "ens224", id="by its driver, which is not known"),
        pytest.param({"a": {"match": {"macaddress": MAC, "name": "eth*"}}}, "ens224", id="by MAC and another name"),
        pytest.param({"a": {"match": {"name": "eth*"}, "set-name": "ens224"}}, "aiready-ens224", id="by its new name"),
    ],
)
def test_netplan_gets_one_file_that_adds_to_the_definition(tmp_path, ethernets, name):
    guest = netplan(tmp_path, ethernets)
    chosen, link = service(guest)
    chosen.write(link, chosen.read(link), 9000, "198.51.100.11/24")
    path = "/etc/netplan/95-aiready-ens224.yaml"
    made = yaml.safe_load(guest.files.text(path))["network"]["ethernets"]
    assert list(made) == [name]
    assert (made[name]["mtu"], made[name]["addresses"]) == (9000, ["198.51.100.11/24"])
    assert made[name].get("dhcp6", False) is ethernets.get("all", {}).get("dhcp6", False)
    assert guest.files.mode(path) == 0o600


def test_netplan_that_refuses_is_reported_with_its_words(tmp_path):
    guest = netplan(tmp_path, {"ens224": {}})
    guest.answers["netplan generate"] = (1, "Error in network definition: unknown key")
    chosen, link = service(guest)
    with pytest.raises(OperatorError, match=r"netplan rejects them\. .*unknown key"):
        chosen.write(link, chosen.read(link), 9000, None)


@pytest.mark.parametrize("said", ["a: [", "day: 2026-13-45", "a: 'x"])
def test_netplan_that_prints_no_yaml_is_an_error(tmp_path, said):
    guest = netplan(tmp_path, {"ens224": {}})
    guest.answers["netplan get"] = said
    with pytest.raises(OperatorError) as raised:
        service(guest)
    assert raised.value.failure["code"] == "netplan_unreadable"


def test_a_python_without_yaml_is_named(tmp_path, monkeypatch):
    guest = netplan(tmp_path, {"ens224": {}})
    monkeypatch.setattr(netplan_module, "yaml", None)
    with pytest.raises(OperatorError) as raised:
        service(guest)
    assert raised.value.failure["code"] == "library_missing"
    assert sys.executable in raised.value.message


def test_ifupdown_changes_the_stanza_and_adds_one_for_a_second_address(tmp_path):
    guest = Guest(tmp_path, {"ifquery": ""}, ["ifup"])
    text = "auto ens224\niface ens224 inet static\n    address 192.0.2.5/24\nsource /etc/network/interfaces.d/*\n"
    guest.files.write("/etc/network/interfaces", text)
    assert kept(guest, 9000, "198.51.100.11/24") == (9000, ["192.0.2.5/24", "198.51.100.11/24"])
    assert kept(guest, None, "198.51.100.12/24") == (9000, ["192.0.2.5/24", "198.51.100.12/24"])


def test_ifupdown_is_reported_to_take_in_a_file_that_it_would_not_read(tmp_path):
    guest = Guest(tmp_path, {"ifquery": ""}, ["ifup"])
    guest.files.write("/etc/network/interfaces", "auto lo\n")
    assert kept(guest, 9000, None) == (9000, [])
    assert guest.files.text("/etc/network/interfaces").startswith("auto lo\n")


def nmcli(root, profile, state="100 (connected)"):
    reported = "".join(f"{name}:{value}\n" for name, value in profile.items())
    uuid = profile.get("connection.uuid", "")
    return Guest(
        root,
        {
            "nmcli -t -e no -f GENERAL": f"GENERAL.STATE:{state}\nGENERAL.CON-UUID:{uuid}\n",
            "nmcli -t -e no -f all connection show uuid": reported,
            "nmcli -t -e no -f all connection show id": (10, "no such profile"),
            "nmcli -g": "uuid-new\n",
            "nmcli": "",
        },
    )


PROFILE = {
    "connection.id": "data",
    "connection.uuid": "uuid-1",
    "connection.interface-name": "ens224",
    "connection.autoconnect": "yes",
    "802-3-ethernet.mtu": "auto",
    "ipv4.method": "auto",
    "ipv4.addresses": "",
}


def changes(guest):
    return [words for words in guest.said if words.startswith("nmcli connection")]


def test_networkmanager_keeps_dhcp_and_adds_an_address(tmp_path):
    guest = nmcli(tmp_path, PROFILE)
    chosen, link = service(guest)
    chosen.write(link, chosen.read(link), 9000, "198.51.100.11/24")
    (made,) = changes(guest)
    assert "802-3-ethernet.mtu 9000" in made
    assert made.endswith("ipv4.addresses 198.51.100.11/24 ipv4.method auto")
    chosen.undo()
    assert changes(guest)[-1].startswith(
        "nmcli connection modify uuid-1 connection.autoconnect yes 802-3-ethernet.mtu auto"
    )


def test_networkmanager_knows_an_address_of_ours_again_and_no_other(tmp_path):
    ours, theirs = "198.51.100.11/24", "192.0.2.5/24"
    guest = nmcli(tmp_path, PROFILE)
    chosen, link = service(guest)
    chosen.write(link, chosen.read(link), 9000, ours)
    again, link = service(nmcli(tmp_path, {**PROFILE, "ipv4.addresses": f"{theirs}, {ours}"}))
    kept = again.read(link)
    assert (kept.addresses, kept.ours) == ([theirs, ours], [ours])


def test_networkmanager_does_not_touch_a_profile_that_fits_any_adapter(tmp_path):
    guest = nmcli(tmp_path, {**PROFILE, "connection.interface-name": ""})
    chosen, link = service(guest)
    chosen.write(link, chosen.read(link), 9000, None)
    assert changes(guest)[0] == "nmcli connection clone uuid-1 aiready-ens224"
    assert all(" uuid-1 " not in f"{words} " for words in changes(guest)[1:])


def test_networkmanager_keeps_nothing_in_a_profile_that_does_not_come_back_by_itself(tmp_path):
    chosen, link = service(nmcli(tmp_path, {**PROFILE, "connection.autoconnect": "no", "802-3-ethernet.mtu": "9000"}))
    assert chosen.read(link).mtu is None


def test_networkmanager_leaves_what_it_does_not_manage(tmp_path):
    with pytest.raises(OperatorError) as caught:
        service(nmcli(tmp_path, {}, state="10 (unmanaged)"))
    assert caught.value.code == "no_network_service"


def test_a_service_that_has_the_adapter_goes_before_one_that_could(tmp_path):
    guest = netplan(tmp_path, {"ens192": {}})
    guest.files.write("/etc/network/interfaces", "iface ens224 inet manual\n")
    guest.programs.add("ifup")
    assert services.name_of(service(guest)[0]) == "ifupdown"
    assert services.name_of(service(guest, "netplan")[0]) == "netplan"
    with pytest.raises(OperatorError, match=r"systemd-networkd does not run on this guest"):
        service(guest, "networkd")


def test_addresses_under_a_second_name_are_addresses_of_the_adapter(tmp_path):
    guest = Guest(tmp_path, programs=["ifup"])
    text = "iface ens224 inet static\n    address 192.0.2.5/24\niface ens224:1 inet static\n    address 192.0.2.6/24\n"
    guest.files.write("/etc/network/interfaces", text + "source /etc/network/interfaces.d/*\n")
    # What an editor left behind.
    guest.files.write("/etc/network/interfaces.d/.ens224.swp", "iface ens224 inet static\n    mtu 4200\n")
    kept = service(guest)[0].read(service(guest)[1])
    assert (kept.addresses, kept.mtu) == (["192.0.2.5/24", "192.0.2.6/24"], None)


@pytest.mark.parametrize(
    "name, carrier, refuses, argv, limit_s",
    [
        ("netplan", True, "", "netplan apply", 120),
        ("networkd", True, "", "networkctl reload", None),
        ("networkmanager", True, "", "nmcli device reapply ens224", None),
        ("networkmanager", True, "nmcli device reapply", "nmcli device reapply ens224", None),
        ("networkmanager", False, "nmcli device reapply", "nmcli device connect ens224", None),
    ],
)
def test_a_service_takes_over_what_was_written(tmp_path, name, carrier, refuses, argv, limit_s):
    refusal = {refuses: (1, "no")} if refuses else {}
    guest = Guest(tmp_path, {**refusal, "netplan": "", "networkctl": "", "nmcli": ""})
    link = adapter.Link(name="ens224", mac=MAC, mtu=1500, carrier=carrier)
    done = services.KNOWN[name](guest, guest.files).activate(link)
    assert (" ".join(done.argv), guest.said[-1], guest.limits.get(argv)) == (argv, argv, limit_s)


def test_a_file_of_ours_that_networkd_has_not_read_yet_is_what_is_kept(tmp_path):
    guest = networkd(tmp_path, None)
    guest.answers["networkctl status"] = "  Network File: n/a\n"
    chosen, link = service(guest)
    assert chosen.read(link).mtu is None
    chosen.write(link, chosen.read(link), 9000, None)
    assert (chosen.read(link).mtu, chosen.read(link).where) == (9000, "/etc/systemd/network/05-aiready-ens224.network")
