# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import guest
from pyVmomi import vim

LINUX_OF_64_BIT = [name for name in vim.vm.GuestOsDescriptor.GuestOsIdentifier.values if name.endswith("_64Guest")]
NOT_LINUX = ("windows", "winNet", "winXP", "winVista", "winLong", "darwin", "freebsd", "solaris")


@pytest.mark.parametrize("guest_id", [name for name in LINUX_OF_64_BIT if not name.startswith(NOT_LINUX)])
def test_every_64_bit_linux_that_vsphere_knows_is_suitable(guest_id):
    assert guest.unsuitable(guest_id) is None


@pytest.mark.parametrize("guest_id", [name for name in LINUX_OF_64_BIT if name.startswith(NOT_LINUX)])
def test_every_other_system_is_refused(guest_id):
    assert "PVRDMA has a driver for Linux only" in guest.unsuitable(guest_id)


@pytest.mark.parametrize("guest_id", ["ubuntuGuest", "rhel6Guest", "debian8Guest", "other4xLinuxGuest"])
def test_a_32_bit_linux_is_refused(guest_id):
    assert "PVRDMA needs a 64-bit Linux" in guest.unsuitable(guest_id)


@pytest.mark.parametrize(
    "guest_id, says",
    [
        ("rhel10_64Guest", "comes without the driver vmw_pvrdma"),
        ("oracleLinux10_64Guest", "comes without the driver vmw_pvrdma"),
        ("centos12_64Guest", "comes without the driver vmw_pvrdma"),
        ("fedora64Guest", "come without the driver vmw_pvrdma"),
        ("rockylinux_64Guest", "only before release 10"),
        ("other3xLinux64Guest", "a kernel older than 4.6"),
        ("otherLinux64Guest", "does not show"),
        ("otherGuest64", "does not show"),
        ("", "(unset) does not show"),
    ],
)
def test_a_guest_that_may_lack_the_driver_is_doubted_but_not_refused(guest_id, says):
    assert guest.unsuitable(guest_id) is None
    assert says in guest.doubt(guest_id)


@pytest.mark.parametrize("guest_id", ["ubuntu64Guest", "rhel9_64Guest", "debian12_64Guest", "other5xLinux64Guest"])
def test_a_guest_that_has_the_driver_is_not_doubted(guest_id):
    assert guest.doubt(guest_id) is None
