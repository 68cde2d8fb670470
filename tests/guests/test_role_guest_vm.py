"""The role guest_vm where no molecule scenario has it: a preview of a bare guest, and time from a server of its own."""

from __future__ import annotations

import pytest

# A server of time in a network that has none.
SERVER = "/etc/chrony/conf.d/server.conf"
BARE = "cat /etc/passwd /sys/class/net/ens224/mtu; ls /etc/security/limits.d /etc/modules-load.d; dpkg-query -W"


class Bare:
    """A guest with a GPU and an adapter for RDMA, which nobody has set up."""

    def __init__(self, guests, guest):
        self.lab, self.name, self.guest = guests, guest.name, guest

    def sh(self, text):
        status, out, err = self.guest.run(["sh", "-c", text])
        assert status == 0, f"{text}: {out}{err}"
        return out.strip()

    def role(self, check=False, **wish):
        # Containers may not raise their limits.
        variables = {"limits": {"memlock": "as_is", "nofile": 0}, "gpu": False, **wish}
        play = {
            "hosts": self.name,
            "become": True,
            "vars": {f"guest_vm_{name}": value for name, value in variables.items()},
            "roles": ["aiready.vsphere.guest_vm"],
        }
        played = self.lab.playbook([play], check=check)
        assert played.status == 0, played.output
        return played.done


@pytest.fixture
def bare(guests, fresh_guest):
    adapters = [{"type": "pvrdma", "network": "pg-rdma"}]
    return Bare(guests, fresh_guest(vgpus=["grid_a100-40c"], networks=["VM Network"], adapters=adapters))


@pytest.fixture
def clock(guests):
    """The address of a guest that tells others the time."""
    guest = guests.guest("job-01")
    guest.put(SERVER, "local stratum 8\nallow\n")
    guest.run(["systemctl", "restart", "chrony"])
    yield guest.address("ens192")
    guest.run(["rm", SERVER])
    guest.run(["systemctl", "restart", "chrony"])


def test_a_preview_of_a_bare_guest_goes_through_and_changes_nothing(bare):
    twin, before = bare.lab.twin.endpoint(), bare.sh(BARE)
    told = bare.role(
        check=True,
        driver={"package": f"{twin['depot']['url']}/grid/nvidia-linux-grid-550_550.54.15_amd64.deb"},
        host_driver="550.54.16",
        gpu=True,
        licence={"token_file": twin["licence"]["token_file"]},
        data_path="pvrdma",
        data_interface={"mac": "{{ ansible_facts['ens224'].macaddress }}", "mtu": 9000, "address": "198.51.100.1/24"},
        user="trainer",
        peers=[{"name": bare.name, "addresses": [twin["guests"][bare.name]["address"]]}],
        reboot="allow",
    )
    assert (bare.name, "Install the driver") in told
    assert bare.sh(BARE) == before


def test_time_comes_from_the_server_that_was_named_and_a_second_run_changes_nothing(bare, clock):
    assert (bare.name, "Say where the time comes from") in bare.role(ntp_servers=[clock])
    assert f"^* {clock}" in bare.sh("chronyc -n sources")
    assert bare.role(ntp_servers=[clock]) == []
