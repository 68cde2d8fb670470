"""The role guest_vm where no molecule scenario has it: a preview, a server of time, what a killed role left."""

from __future__ import annotations

import pytest

# A server of time in a network that has none.
SERVER = "/etc/chrony/conf.d/server.conf"
# systemctl is back before the new one answers.
REEXEC = "systemctl daemon-reexec; until systemctl show --property=Version; do sleep 0.1; done"
# What the role writes, and whoever goes by it only after it was started anew.
WRITTEN = {
    "/etc/chrony/chrony.conf": "systemctl restart chrony",
    "/etc/systemd/logind.conf.d/90-aiready.conf": "systemctl restart systemd-logind",
    "/etc/systemd/system.conf.d/90-aiready.conf": REEXEC,
}
DOCA = "/etc/apt/sources.list.d/doca.list"
LIMITS = "/etc/security/limits.d/99-person.conf"
DRIVER = "grid/nvidia-linux-grid-550_550.54.15_amd64.deb"
ADAPTER = {"mac": "{{ ansible_facts['ens224'].macaddress }}", "address": "198.51.100.1/24"}
BARE = "cat /etc/passwd /sys/class/net/ens224/mtu; ls /etc/security/limits.d /etc/modules-load.d; dpkg-query -W"


class Bare:
    """A guest with a GPU and an adapter for RDMA, which nobody has set up."""

    def __init__(self, guests, guest):
        self.lab, self.name, self.guest = guests, guest.name, guest

    def sh(self, text):
        status, out, err = self.guest.run(["sh", "-c", text])
        assert status == 0, f"{text}: {out}{err}"
        return out.strip()

    def role(self, check=False, **requested):
        """[(host, task)] of what the role changed, or would."""
        played = self.play(check=check, **requested)
        assert played.status == 0, played.output
        return played.done

    def play(self, check=False, before=(), **requested):
        # Containers may not raise their limits.
        variables = {"limits": {"memlock": "as_is", "nofile": 0}, "gpu": False, **requested}
        play = {
            "hosts": self.name,
            "become": True,
            "vars": {f"guest_vm_{name}": value for name, value in variables.items()},
            "pre_tasks": list(before),
            "roles": ["aiready.vsphere.guest_vm"],
        }
        return self.lab.playbook([play], check=check)

    def refused(self, **how):
        """What a role that fails says, on one line."""
        played = self.play(**how)
        assert played.status != 0, played.output
        return " ".join(played.output.split())


def doca(guests, fresh_guest, **vm):
    """A guest with a virtual function, whose repositories have DOCA-OFED."""
    bare = Bare(guests, fresh_guest(adapters=[{"type": "sriov", "network": "pg-sriov"}], **vm))
    repository = f"deb [trusted=yes] {guests.twin.endpoint()['depot']['url']}/doca/deb ./"
    bare.sh(f"echo '{repository}' > {DOCA}; apt-get -qq update")
    return bare


@pytest.fixture
def bare(guests, fresh_guest):
    adapters = [{"type": "pvrdma", "network": "pg-rdma"}]
    return Bare(guests, fresh_guest(vgpus=["grid_a100-40c"], networks=["VM Network"], adapters=adapters))


@pytest.fixture
def clock(guests):
    """The address of a guest that is the time server of others."""
    guest = guests.guest("job-01")
    guest.put(SERVER, "local stratum 8\nallow\n")
    guest.run(["systemctl", "restart", "chrony"])
    yield guest.address("ens192")
    guest.run(["rm", SERVER])
    guest.run(["systemctl", "restart", "chrony"])


def test_a_preview_of_a_bare_guest_goes_through_and_changes_nothing(bare):
    twin, before = bare.lab.twin.endpoint(), bare.sh(BARE)
    reported = bare.role(
        check=True,
        driver={"package": f"{twin['depot']['url']}/{DRIVER}"},
        host_driver="550.54.16",
        gpu=True,
        licence={"token_file": twin["licence"]["token_file"]},
        data_path="pvrdma",
        data_interface={**ADAPTER, "mtu": 9000},
        user="trainer",
        peers=[{"name": bare.name, "addresses": [twin["guests"][bare.name]["address"]]}],
        reboot="allow",
    )
    assert (bare.name, "Install the driver") in reported
    assert bare.sh(BARE) == before


def test_time_comes_from_the_server_that_was_named_and_a_second_run_changes_nothing(bare, clock):
    assert (bare.name, "Configure the NTP servers") in bare.role(ntp_servers=[clock])
    assert f"^* {clock}" in bare.sh("chronyc -n sources")
    assert bare.role(ntp_servers=[clock]) == []


def test_what_was_written_before_a_role_was_killed_is_gone_by_after_the_next_one(bare, clock):
    requested = {"ntp_servers": [clock], "limits": {"memlock": "as_is", "nofile": 4096}}
    bare.sh("cp /etc/chrony/chrony.conf /var/tmp/chrony.conf")
    bare.role(**requested)
    for file, started in WRITTEN.items():
        # As a role leaves it that is killed between the two: written, and nobody has read it.
        before = "cp /var/tmp/chrony.conf" if "chrony" in file else "rm"
        bare.sh(f"cp {file} /var/tmp/written; {before} {file}; {started}; sleep 0.1; cp /var/tmp/written {file}")
    gone = "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager RemoveIPC"
    assert (clock in bare.sh("chronyc -n sources"), bare.sh(gone)) == (False, "b true")
    assert bare.sh("systemctl show --property=DefaultLimitNOFILE --value") != "4096"
    reported = bare.role(**requested)
    assert reported == [(bare.name, "Restart logind to load its settings"), (bare.name, "Start chrony")]
    assert (f"^* {clock}" in bare.sh("chronyc -n sources"), bare.sh(gone)) == (True, "b false")
    assert bare.sh("systemctl show --property=DefaultLimitNOFILE --value") == "4096"
    assert bare.role(**requested) == []


def test_drivers_of_ofed_that_a_killed_role_installed_get_their_restart_where_it_is_allowed(guests, fresh_guest):
    bare = doca(guests, fresh_guest)
    bare.sh("apt-get -qq -y install doca-ofed 2>&1")
    requested = {
        "data_path": "sriov",
        "data_interface": ADAPTER,
        "rdma": {"stack": "ofed"},
    }
    planned = bare.play(check=True, **requested)
    assert planned.status == 0, planned.output
    assert (bare.name, "Restart the guest") in planned.done
    reported = planned.output.partition("A run would end here:")[2]
    assert "waits for a restart of the guest" in reported
    assert "set guest_vm_reboot to allow" in bare.refused(**requested)
    requested["reboot"] = "allow"
    assert (bare.name, "Restart the guest") in bare.role(**requested)
    assert bare.sh("cat /sys/module/mlx5_core/version") == bare.sh("modinfo -F version mlx5_core") != ""
    assert bare.role(**requested) == []


def test_way_to_gpus_is_chosen_by_the_driver_that_came_just_now(guests, fresh_guest):
    room = {"pciPassthru.64bitMMIOSizeGB": "256"}
    bare = doca(guests, fresh_guest, vgpus=["grid_a100-40c"], extra_config=room)
    requested = {
        "data_path": "sriov",
        "data_interface": ADAPTER,
        "rdma": {"stack": "ofed", "gpudirect": "auto"},
        "driver": {"package": f"{guests.twin.endpoint()['depot']['url']}/{DRIVER}"},
        "host_driver": "550.54.16",
        "gpu": True,
        "reboot": "allow",
    }
    loaded = "grep -l . /sys/module/nvidia_peermem/version /etc/modules-load.d/aiready-peermem.conf | wc -l"
    assert (bare.name, "Load nvidia_peermem now") in bare.role(**requested)
    assert bare.sh(loaded) == "2"
    assert bare.role(**requested) == []
    requested["rdma"]["gpudirect"] = "off"
    assert bare.role(**requested) == [(bare.name, "Stop loading nvidia_peermem at boot")]
    assert bare.role(**requested) == []


def test_limit_of_a_user_who_is_made_in_the_same_run_is_proved(bare):
    # What a container may not raise is said to be raised, and a person's file takes it back.
    bare.sh("echo '#!/bin/sh' > /usr/local/bin/prlimit; chmod +x /usr/local/bin/prlimit")
    lines = ["* - memlock 8192", "root - memlock 8192", "trainer - memlock 64"]
    bare.guest.put(LIMITS, "\n".join([*lines, ""]))
    requested = {"data_path": "pvrdma", "data_interface": ADAPTER, "user": "trainer", "limits": {"nofile": 0}}
    assert "Their limit is 64 kB." in bare.refused(**requested)
    bare.guest.put(LIMITS, "\n".join([*lines[:2], "trainer - maxlogins 0", ""]))
    assert "A test login of trainer failed" in bare.refused(**requested)


OPENED = {
    "zone of the adapter": "firewall-cmd --quiet --zone=trusted --change-interface=ens224",
    "zone of addresses": "firewall-cmd --quiet --zone=trusted --add-source=198.51.100.0/24",
    "zone of the others": "firewall-cmd --quiet --set-default-zone=trusted",
}


def test_firewall_that_lets_no_training_in_is_reported_and_left_alone(bare):
    zones, reported = "firewall-cmd --list-all-zones", f"{bare.name}: firewalld blocks most ports on ens224"
    bare.sh("apt-get -qq update; apt-get -qq install --no-install-recommends firewalld >/dev/null 2>&1")
    before = bare.sh(zones)
    assert reported in " ".join(bare.play(data_interface=ADAPTER).output.split())
    assert bare.sh(zones) == before
    for what, command in OPENED.items():
        bare.sh(command)
        assert reported not in " ".join(bare.play(data_interface=ADAPTER).output.split()), what
        bare.sh("firewall-cmd --quiet --set-default-zone=public; firewall-cmd --quiet --reload")


def test_python_that_no_module_here_runs_on_is_refused_with_a_way_out(bare):
    old = {"ansible.builtin.set_fact": {"ansible_python_version": "3.6.8", "cacheable": True}}
    assert "install the package python3.11 and set ansible_python_interpreter" in bare.refused(before=[old])
