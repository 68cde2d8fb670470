# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What ifupdown keeps of an adapter: which files speak of it, and what is written into which of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.ifupdown import MAIN, Ifupdown

from .world import Guest

LINK = SimpleNamespace(name="ens224")
OURS = "/etc/network/interfaces.d/aiready-ens224"
OTHER = "/etc/network/interfaces.d/train"
LOOPBACK = "auto lo\niface lo inet loopback\n"
TAKES_IN = f"{LOOPBACK}\nsource /etc/network/interfaces.d/*\n"


@pytest.fixture
def guest(tmp_path):
    made = Guest(tmp_path, answers={"ifquery ens224": ""}, programs=["ifup"])
    made.files.write(MAIN, TAKES_IN)
    return made


def service(guest):
    return Ifupdown(guest, guest.files)


def written(guest, mtu=None, address=None):
    """The files after the service has written what it keeps."""
    one = service(guest)
    one.write(LINK, one.read(LINK), mtu, address)
    return [guest.files.text(path) for path in (MAIN, OTHER, OURS)]


@pytest.mark.parametrize(
    "programs, main, claim",
    [
        (["ifup"], TAKES_IN, "able"),
        (["ifup"], f"{TAKES_IN}iface ens224 inet dhcp\n", "owner"),
        (["ifup"], f"{TAKES_IN}iface ens224 inet6 auto\n", "able"),
        (["ifup"], f"{TAKES_IN}iface ens192 inet dhcp\n", "able"),
        (["ifup"], None, None),
        ([], f"{TAKES_IN}iface ens224 inet dhcp\n", None),
    ],
    ids=["no stanza", "a stanza", "of IPv6 alone", "of another adapter", "no main file", "no program"],
)
def test_it_has_the_adapters_of_its_stanzas_where_it_is_whole(tmp_path, programs, main, claim):
    guest = Guest(tmp_path, programs=programs)
    if main is not None:
        guest.files.write(MAIN, main)
    assert service(guest).claims(LINK) == claim


def test_addresses_of_all_files_are_read_and_those_of_our_file_are_ours(guest):
    guest.files.write(OTHER, "iface ens224 inet static\n    address 192.0.2.5/24\n    mtu 4200\n")
    guest.files.write(OURS, "iface ens224 inet static\n    address 192.0.2.6/24\n    mtu 9000\n")
    guest.files.write("/etc/network/interfaces.d/zz", "iface ens224:1 inet static\n    address 192.0.2.7/24\n")
    kept = service(guest).read(LINK)
    assert kept.where == f"{OURS}, {OTHER}, /etc/network/interfaces.d/zz"
    assert (kept.mtu, kept.ours) == (4200, ["192.0.2.6/24"])
    assert kept.addresses == ["192.0.2.6/24", "192.0.2.5/24", "192.0.2.7/24"]


def test_an_adapter_that_nobody_speaks_of_has_nothing_kept(guest):
    guest.files.write(OURS, "iface ens224 inet manual\n")
    kept = service(guest).read(LINK)
    assert (kept.where, kept.mtu, kept.addresses, kept.ours) == (OURS, None, [], [])
    guest.files.remove(OURS)
    assert service(guest).read(LINK).where == ""


def test_an_adapter_of_nobody_gets_a_file_of_its_own(guest):
    assert written(guest, 9000, "192.0.2.9/24") == [
        TAKES_IN,
        None,
        "auto ens224\niface ens224 inet static\n    address 192.0.2.9/24\n    mtu 9000\n",
    ]


def test_a_main_file_that_takes_nothing_in_takes_in_the_new_one(guest):
    guest.files.write(MAIN, LOOPBACK)
    main, _other, ours = written(guest, mtu=9000)
    assert main == f"{LOOPBACK}\nsource {OURS}\n"
    assert ours == "auto ens224\niface ens224 inet manual\n    mtu 9000\n"
    assert written(guest, mtu=9000)[0] == main


def test_the_mtu_goes_into_the_stanza_of_another_file_and_the_address_into_our_own(guest):
    guest.files.write(OTHER, "iface ens224 inet static\n    address 192.0.2.5/24\n    mtu 1500\n")
    assert written(guest, 9000, "192.0.2.9/24")[1:] == [
        "iface ens224 inet static\n    mtu 9000\n    address 192.0.2.5/24\n",
        "auto ens224\niface ens224 inet static\n    address 192.0.2.9/24\n",
    ]


def test_a_stanza_for_a_further_address_alone_does_not_take_the_mtu(guest):
    further = "iface ens224:1 inet static\n    address 192.0.2.7/24\n"
    guest.files.write(OTHER, further)
    assert written(guest, mtu=9000)[1:] == [further, "auto ens224\niface ens224 inet manual\n    mtu 9000\n"]


def test_without_a_new_mtu_the_one_of_our_file_stays(guest):
    guest.files.write(OURS, "iface ens224 inet manual\n    mtu 9000\n")
    assert written(guest, address="192.0.2.9/24")[2] == (
        "auto ens224\niface ens224 inet static\n    address 192.0.2.9/24\n    mtu 9000\n"
    )


def test_our_file_is_empty_where_another_has_everything(guest):
    whole = "iface ens224 inet static\n    address 192.0.2.5/24\n"
    guest.files.write(OTHER, whole)
    guest.files.write(OURS, "iface ens224 inet static\n    address 192.0.2.9/24\n")
    assert written(guest, address="192.0.2.5/24")[1:] == [whole, ""]
    guest.files.remove(OURS)
    assert written(guest, address="192.0.2.5/24")[1:] == [whole, None]


def test_where_nothing_is_kept_no_file_is_made(guest):
    assert written(guest) == [TAKES_IN, None, None]


def test_settings_that_ifupdown_does_not_take_are_an_error(guest):
    guest.answers["ifquery ens224"] = (1, "ifquery: couldn't read interfaces file")
    with pytest.raises(OperatorError) as failed:
        written(guest, mtu=9000)
    assert failed.value.code == "service_refused"
    assert "couldn't read interfaces file" in failed.value.message


@pytest.mark.parametrize(
    "line, taken",
    [
        ("source interfaces.d/*", True),
        ("source interfaces.d/tr?in", True),
        ("source /etc/network/interfaces.d/train", True),
        ("source /etc/network/interfaces.d/other*", False),
        ("source", False),
        ("source-directory /etc/network/interfaces.d", True),
        ("source-directory interfaces.d", True),
        ("source-directory", False),
        ("# source interfaces.d/*", False),
    ],
)
def test_files_that_the_main_one_takes_in_are_read(guest, line, taken):
    guest.files.write(MAIN, f"{LOOPBACK}{line}\n")
    guest.files.write(OTHER, "iface ens224 inet dhcp\n")
    assert service(guest).read(LINK).where == (OTHER if taken else "")


@pytest.mark.parametrize(
    "name, line, taken",
    [
        (".train.swp", "source interfaces.d/*", False),
        (".train", "source interfaces.d/.tr*", True),
        ("train.bak", "source interfaces.d/*", True),
        ("train.bak", "source-directory interfaces.d", False),
    ],
)
def test_what_editors_leave_behind_is_not_read(guest, name, line, taken):
    guest.files.write(MAIN, f"{LOOPBACK}{line}\n")
    guest.files.write(f"/etc/network/interfaces.d/{name}", "iface ens224 inet dhcp\n")
    assert bool(service(guest).read(LINK).where) is taken


def test_a_pattern_of_folders_is_refused(guest):
    guest.files.write(MAIN, f"{LOOPBACK}source /etc/network/*/train\n")
    with pytest.raises(OperatorError) as failed:
        service(guest).read(LINK)
    assert failed.value.code == "pattern_of_folders"


def test_the_mtu_of_a_stanza_by_dhcp_is_a_command_and_the_former_one_goes(guest):
    guest.files.write(
        OTHER,
        "# mtu 1400\nauto ens224\niface ens224 inet dhcp\n    up ip link set dev ens224 mtu 4200\n"
        "    up ip link set dev bond0 mtu 4200\n    metric 100\n\niface ens192 inet manual\n    mtu 1500\n",
    )
    assert written(guest, mtu=9000)[1] == (
        "# mtu 1400\nauto ens224\niface ens224 inet dhcp\n    up ip link set dev ens224 mtu 9000\n"
        "    up ip link set dev bond0 mtu 4200\n    metric 100\n\niface ens192 inet manual\n    mtu 1500\n"
    )


def test_only_the_first_of_several_stanzas_of_our_file_has_the_mtu(guest):
    guest.files.write(
        OURS, "iface ens224 inet static\n    address 192.0.2.6/24\niface ens224 inet static\n    address a\n"
    )
    assert written(guest, mtu=9000)[2] == (
        "auto ens224\niface ens224 inet static\n    address 192.0.2.6/24\n    mtu 9000\n"
        "iface ens224 inet static\n    address a\n"
    )


@pytest.mark.parametrize("line", ["auto ens192", "allow-hotplug ens192", "mapping ens192"])
def test_options_below_another_beginning_belong_to_no_stanza_before_it(guest, line):
    rest = f"{line}\n    mtu 1400\n"
    guest.files.write(OTHER, f"iface ens224 inet manual\n{rest}")
    assert service(guest).read(LINK).mtu is None
    assert written(guest, mtu=9000)[1] == f"iface ens224 inet manual\n    mtu 9000\n{rest}"


def test_lines_before_the_first_stanza_stay(guest):
    guest.files.write(OTHER, "mtu 1400\niface ens224 inet manual\n")
    assert written(guest, mtu=9000)[1] == "mtu 1400\niface ens224 inet manual\n    mtu 9000\n"
