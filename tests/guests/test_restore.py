"""A guest is as before after its stages and restore, by the guest's own programs and past the collection."""

from __future__ import annotations

import pytest

from .lab import until

DRIVER = "grid/nvidia-linux-grid-550_550.54.15_amd64.deb"
EARLIER = "grid/nvidia-linux-grid-535_535.161.08_amd64.deb"
ADAPTER = {"mac": "{{ ansible_facts['ens224'].macaddress }}", "address": "198.51.100.1/24", "mtu": 9000}
STAGES = ["guests", "runtime", "training", "validation"]
# Caches and copies that programs of the system make of other files: not content of anybody.
CACHES = r"/etc/\(ld.so.cache\|mtab\|resolv.conf\|\(passwd\|group\|shadow\|gshadow\|subuid\|subgid\)-\)"
STATE = f"""
find /etc /root /home /usr/local /var/tmp -xdev ! -type d ! -regex '{CACHES}' ! -path '*/.ansible/*' | sort |
  while read -r path; do
    stat --format '%A %U:%G %N' "$path"; [ -L "$path" ] || md5sum < "$path"
  done
dpkg-query -W -f '${{Package}} ${{Version}} ${{db:Status-Abbrev}}\n'
apt-mark showmanual
systemctl list-unit-files --no-legend --state=enabled
systemctl is-active chrony chronyd systemd-timesyncd docker containerd nvidia-gridd
cat /sys/class/net/ens224/mtu
ip -brief address show dev ens224 | sed 's/@[^ ]*//'
"""
LOGIND = "/etc/systemd/logind.conf.d/90-aiready.conf"


class Whole:
    """A guest with a GPU and an adapter for RDMA, and the stages on it."""

    def __init__(self, guests, guest):
        self.lab, self.name, self.guest = guests, guest.name, guest
        twin = guests.twin.endpoint()
        self.vars = {
            "guest_vm_limits": {"memlock": "as_is", "nofile": 0},
            "guest_vm_gpu": True,
            "guest_vm_driver": {"package": f"{twin['depot']['url']}/{DRIVER}"},
            "guest_vm_host_driver": "550.54.16",
            "guest_vm_licence": {"token_file": twin["licence"]["token_file"]},
            "guest_vm_data_path": "pvrdma",
            "guest_vm_data_interface": ADAPTER,
            "guest_vm_user": "trainer",
            "guest_vm_peers": [{"name": guest.name, "addresses": [twin["guests"][guest.name]["address"]]}],
            "guest_vm_reboot": "allow",
            "container_runtime_gpu": False,
        }

    def sh(self, text):
        status, out, err = self.guest.run(["sh", "-c", text])
        assert status == 0, f"{text}: {out}{err}"
        return out.strip()

    def state(self):
        return set(self.guest.run(["sh", "-c", STATE])[1].splitlines())

    def play(self, **more):
        return {"hosts": self.name, "become": True, "vars": self.vars, **more}

    def stages(self):
        played = self.lab.playbook([self.play(roles=["aiready.vsphere.guest_vm", "aiready.vsphere.container_runtime"])])
        assert played.status == 0, played.output

    @property
    def restore(self):
        module = {"state": "restored", "stages": STAGES}
        return self.play(gather_facts=False, tasks=[{"name": "Restore", "aiready.vsphere.guest_baseline": module}])

    def restored(self, **how):
        played = self.lab.playbook([self.restore], count=1, **how)
        assert played.status == 0, played.output
        return played[0]["baseline"]


@pytest.fixture
def whole(guests, fresh_guest):
    adapters = [{"type": "pvrdma", "network": "pg-rdma"}]
    return Whole(guests, fresh_guest(vgpus=["grid_a100-40c"], networks=["VM Network"], adapters=adapters))


def test_guest_is_as_before_after_stages_a_killed_restore_and_the_next_one(whole):
    before = whole.state()
    whole.stages()
    assert whole.state() != before
    # Somebody else changes a file that the role wrote.
    whole.sh(f"echo '# theirs' >> {LOGIND}")
    left = whole.state()
    shown = whole.restored(check=True, diff=True)
    assert whole.state() == left
    assert {"what": f"file:{LOGIND}", "why": "changed since by another"} in shown["after"]["kept"]
    with whole.lab.begun([whole.restore]):
        until(lambda: whole.guest.run(["sh", "-c", "dpkg-query -W docker.io"])[0] != 0)
        whole.guest.run(["pkill", "-KILL", "-x", "python3"])
    reported = whole.restored()
    assert reported["after"]["due"] == []
    whole.sh(f"rm {LOGIND}")
    after = whole.state()
    assert {"gone": sorted(before - after), "more": sorted(after - before)} == {"gone": [], "more": []}
    # The folder of that file is empty now.
    assert [change["path"] for change in whole.restored()["changes"]] == ["folder:/etc/systemd/logind.conf.d"]
    assert whole.restored()["changed"] is False


def test_an_earlier_driver_is_restored_alone_and_recorded(guests, fresh_guest):
    """The tasks of the role, as the playbook restore includes them in the rollback of an upgrade."""
    guest = fresh_guest(vgpus=["grid_a100-40c"])
    depot = guests.twin.endpoint()["depot"]["url"]
    role = {"name": "aiready.vsphere.guest_vm", "tasks_from": "restore_driver"}

    def play(package, **how):
        given = {"guest_vm_driver": {"package": f"{depot}/{package}", "downgrade": "allow"}, "guest_vm_reboot": "allow"}
        given.update(guest_vm_gpu=True, guest_vm_host_driver="550.54.16")
        task = {"name": "Restore the driver", "ansible.builtin.include_role": role}
        played = guests.playbook([{"hosts": guest.name, "become": True, "vars": given, "tasks": [task]}], **how)
        assert played.status == 0, played.output
        return played

    def driver():
        return guest.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])[1].strip()

    play(DRIVER)
    assert driver() == "550.54.15"
    shown = play(EARLIER, check=True, diff=True)
    assert "535.161.08 (deb)" in shown.output
    assert driver() == "550.54.15"
    play(EARLIER)
    assert driver() == "535.161.08"
    # A later restore of the guest knows which driver this left.
    restored = {"aiready.vsphere.guest_baseline": {"state": "restored", "stages": STAGES}, "name": "Restore"}
    played = guests.playbook(
        [{"hosts": guest.name, "become": True, "gather_facts": False, "tasks": [restored]}], count=1
    )
    assert played.status == 0, played.output
    assert played[0]["baseline"]["after"]["kept"] == []
    assert guest.run(["sh", "-c", "dpkg-query -W 'nvidia-linux-grid*'"])[1] == ""
