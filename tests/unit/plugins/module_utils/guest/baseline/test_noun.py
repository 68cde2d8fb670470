# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A guest is as before after its stages and restore. Values of others stay and are named."""

from __future__ import annotations

import json
import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import record

from .world import DEBIAN, LIMITS, ROCKY, STAGES, Guest

CHRONY, DAEMON, TOKEN = "/etc/chrony/chrony.conf", "/etc/docker/daemon.json", "/etc/nvidia/ClientConfigToken/a.tok"
WANTS = "/etc/systemd/system/multi-user.target.wants"
CHANGED = "changed since by another"


def guests_stage(guest):
    """What a run of the stage guests changes."""
    guest.put(LIMITS, "* hard memlock unlimited\n")
    guest.put(CHRONY, "server 192.0.2.1 iburst\n")
    guest.put(TOKEN, "secret-token", 0o744)
    guest.packages.update({"chrony": ["4.3", True, "libc6, libchrony1"], "libchrony1": ["4.3", False, "libc6"]})
    guest.packages.pop("systemd-timesyncd", None)
    guest.packages["bash"][1] = True
    guest.active = {"chrony"}
    guest.adapters["ens224"] = [9000, ["192.168.50.11/24"]]
    passwd = guest.files.text("/etc/passwd")
    if "train:" not in passwd:
        guest.put("/etc/passwd", f"{passwd}train:x:1001:1001::/home/train:/bin/bash\n")
    guest.put("/home/train/.ssh/id_ed25519", "a private key", 0o600)
    guest.put("/home/train/.bashrc", "# from the skeleton\n")


def runtime_stage(guest):
    guest.packages["docker.io"] = ["20.10", True, "libc6"]
    guest.put(DAEMON, '{"log-driver": "local", "default-runtime": "nvidia"}', 0o600)
    (guest.root / WANTS.lstrip("/")).mkdir(parents=True, exist_ok=True)
    link = guest.root / WANTS.lstrip("/") / "docker.service"
    if not link.is_symlink():
        os.symlink("/lib/systemd/system/docker.service", link)
    guest.active.add("docker")


def run_stages(guest):
    for stage, work in (("guests", guests_stage), ("runtime", runtime_stage)):
        guest.baseline("begun", [stage])
        work(guest)
        guest.baseline("ended", [stage])


@pytest.fixture
def guest(tmp_path):
    made = Guest(tmp_path / "root")
    made.put(CHRONY, "pool pool.example\n", 0o640)
    made.put(DAEMON, '{"log-driver": "local"}', 0o600)
    made.packages["systemd-timesyncd"] = ["252", False, ""]
    return made


def untouched(tree):
    """The state of a guest without the record and without empty folders, which are not content."""
    return {path: one for path, one in tree.items() if one[0] is not True and "/aiready.vsphere" not in path}


def test_guest_is_as_before_after_two_runs_and_restore(guest):
    before = guest.tree()
    run_stages(guest)
    run_stages(guest)
    reported = guest.baseline("restored", STAGES)
    assert (reported["failed"], reported["msg"], reported["changed"]) == (False, "", True)
    assert reported["after"] == {
        "recorded": ["guests", "runtime"],
        "interrupted": [],
        "due": [],
        "kept": [],
        "cannot": [],
    }
    after = guest.tree()
    assert untouched(after) == untouched(before)
    assert guest.adapters == {"ens224": [1500, []]}
    assert not guest.files.exists("/var/lib/aiready.vsphere")
    again = guest.baseline("restored", STAGES)
    assert (again["changed"], [one["what"] for one in again["after"]["cannot"]]) == (False, ["record"])


def test_check_mode_shows_the_same_changes_and_makes_none(guest):
    run_stages(guest)
    before = guest.tree()
    shown = guest.baseline("restored", STAGES, check=True)
    assert guest.tree() == before
    assert shown["changes"] == guest.baseline("restored", STAGES)["changes"]
    kinds = [change["path"].partition(":")[0] for change in shown["changes"]]
    assert kinds == sorted(kinds, key=["package", "file", "folder", "account", "service", "mtu", "addresses"].index)


def test_no_result_and_no_file_of_others_shows_content(guest):
    guest.put(TOKEN, "former-secret", 0o744)
    run_stages(guest)
    reported = json.dumps(guest.baseline("restored", STAGES, check=True))
    assert "secret" not in reported.replace("aiready", "")
    assert "a private key" not in reported
    folder = guest.root / record.FOLDER.lstrip("/")
    modes = {os.stat(path).st_mode & 0o777 for path in [folder, *folder.rglob("*")]}
    assert modes == {0o700, 0o600}


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda guest: guest.put(LIMITS, "* hard memlock 1\n"), f"file:{LIMITS}"),
        (lambda guest: os.chmod(guest.files.at(CHRONY), 0o600), f"file:{CHRONY}"),
        (lambda guest: guest.put(DAEMON, "{}", 0o600), f"file:{DAEMON}"),
        (lambda guest: guest.gone(DAEMON), f"file:{DAEMON}"),
        (lambda guest: guest.adapters["ens224"].__setitem__(0, 4000), "mtu:ens224"),
        (lambda guest: guest.packages["libchrony1"].__setitem__(1, True), "package:libchrony1"),
    ],
)
def test_value_of_another_stays_and_is_named(guest, change, what):
    run_stages(guest)
    change(guest)
    before = guest.tree()
    reported = guest.baseline("restored", STAGES)
    assert {"what": what, "why": CHANGED} in reported["after"]["kept"]
    assert reported["msg"] == ""
    path = what.partition(":")[2]
    assert guest.tree().get(path) == before.get(path)
    assert guest.baseline("restored", STAGES)["changed"] is False
    assert what in guest.body()["items"]


def test_value_of_another_that_a_later_run_replaced_stays(guest):
    run_stages(guest)
    guest.put(DAEMON, '{"theirs": true}', 0o600)
    guest.baseline("begun", ["runtime"])
    guest.put(DAEMON, '{"theirs": true, "default-runtime": "nvidia"}', 0o600)
    guest.baseline("ended", ["runtime"])
    reported = guest.baseline("restored", STAGES)
    assert reported["after"]["kept"] == [{"what": f"file:{DAEMON}", "why": CHANGED}]


def test_package_that_others_need_stays_with_its_accounts(guest):
    run_stages(guest)
    guest.packages["theirs"] = ["1", True, "docker.io"]
    reported = guest.baseline("restored", STAGES)
    assert {"what": "package:docker.io", "why": "theirs needs it"} in reported["after"]["kept"]
    assert "docker.io" in guest.packages
    assert "chrony" not in guest.packages


def test_packages_of_an_engine_stay_while_it_runs_containers(guest):
    run_stages(guest)
    guest.containers = 2
    reported = guest.baseline("restored", STAGES)
    why = "docker runs 2 containers. Stop them first"
    assert {"what": "package:docker.io", "why": why} in reported["after"]["kept"]
    assert reported["pending"] == [{"what": "systemctl try-restart docker", "needs": "service_restart"}]


def test_updated_package_of_ours_goes_and_one_that_was_there_is_reported(guest):
    guest.baseline("begun", ["guests"])
    guests_stage(guest)
    guest.packages["bash"][0] = "5.2"
    guest.baseline("ended", ["guests"])
    guest.packages["chrony"][0] = "4.4"
    reported = guest.baseline("restored", STAGES)
    assert reported["after"]["cannot"] == [{"what": "package:bash", "why": "upgraded in place from 5.1 to 5.2"}]
    assert "chrony" not in guest.packages


def test_home_with_files_of_others_stays_without_the_keys_of_the_guests(guest):
    run_stages(guest)
    guest.put("/home/train/results.csv", "1,2\n")
    reported = guest.baseline("restored", STAGES)
    why = "the home of train has files of others, such as /home/train/results.csv"
    assert {"what": "account:/etc/passwd:train", "why": why} in reported["after"]["kept"]
    assert "train:" in guest.files.text("/etc/passwd")
    assert guest.files.text("/home/train/.bashrc") == "# from the skeleton\n"
    assert not guest.files.exists("/home/train/.ssh/id_ed25519")


def test_accounts_that_others_added_stay(guest):
    run_stages(guest)
    guest.put("/etc/passwd", f"{guest.files.text('/etc/passwd')}ann:x:1002:1002::/home/ann:/bin/sh\n")
    guest.baseline("restored", STAGES)
    names = [line.split(":")[0] for line in guest.files.text("/etc/passwd").splitlines()]
    assert names == ["root", "ops", "ann"]


def test_one_stage_is_restored_alone(guest):
    run_stages(guest)
    guest.baseline("restored", ["runtime"])
    assert "docker.io" not in guest.packages
    assert "chrony" in guest.packages
    assert guest.files.text(DAEMON) == '{"log-driver": "local"}'
    assert guest.files.exists(LIMITS)
    guest.baseline("restored", ["guests"])
    assert not guest.files.exists(LIMITS)


def test_killed_stage_keeps_its_first_record(guest):
    guest.baseline("begun", ["guests"])
    guests_stage(guest)
    shown = guest.baseline("restored", STAGES)
    assert [one["what"] for one in shown["after"]["cannot"]] == ["stage:guests"]
    assert shown["changed"] is False
    guest.baseline("begun", ["guests"])
    guest.baseline("ended", ["guests"])
    guest.baseline("restored", STAGES)
    assert guest.files.text(CHRONY) == "pool pool.example\n"
    assert not guest.files.exists(LIMITS)


def test_killed_stage_is_restored_on_request(guest):
    before = untouched(guest.tree())
    guest.baseline("begun", ["guests"])
    guests_stage(guest)
    reported = guest.baseline("restored", STAGES, interrupted="restore")
    assert reported["after"]["cannot"] == []
    assert untouched(guest.tree()) == before


class Killed(BaseException):
    pass


def test_restore_killed_at_any_command_or_file_ends_the_same(tmp_path, monkeypatch):
    """SIGKILL in the place of each call that changes the guest."""
    steps, limit = [], [None]

    def counted(kind, real):
        def call(*given, **more):
            if limit[0] is not None and len(steps) >= limit[0]:
                raise Killed(kind)
            steps.append(kind)
            return real(*given, **more)

        return call

    for name in ("replace", "unlink", "rmdir", "symlink"):
        monkeypatch.setattr(os, name, counted(name, getattr(os, name)))
    monkeypatch.setattr(Guest, "run", counted("run", Guest.run))

    def made(number):
        limit[0] = None
        one = Guest(tmp_path / f"{number}")
        one.put(CHRONY, "pool pool.example\n", 0o640)
        one.packages["systemd-timesyncd"] = ["252", False, ""]
        before = untouched(one.tree())
        run_stages(one)
        steps.clear()
        return one, before

    one, _before = made("whole")
    one.baseline("restored", STAGES)
    count = len(steps)
    assert count > 30
    for number in range(0, count, 7):
        one, before = made(number)
        limit[0] = number
        with pytest.raises(Killed):
            one.baseline("restored", STAGES)
        limit[0] = None
        one.baseline("restored", STAGES)
        assert untouched(one.tree()) == before, number
        assert one.adapters == {"ens224": [1500, []]}
        assert not one.files.exists("/var/lib/aiready.vsphere"), number


@pytest.mark.parametrize(
    "text, found",
    [
        ("{", "It is not a complete JSON document."),
        ('{"schema": 2, "checksum": "", "body": {}}', "Its schema is 2, and this version reads 1."),
        ('{"schema": 1, "checksum": "", "body": {}}', "Its checksum differs from its content."),
    ],
)
def test_damaged_record_is_refused(guest, text, found):
    guest.put(record.FILE, text)
    for state in ("begun", "restored"):
        reported = guest.baseline(state, ["guests"])
        assert (reported["failed"], reported["failure"]["code"], found in reported["msg"]) == (
            True,
            "record_damaged",
            True,
        )


def test_lost_content_is_reported_and_the_rest_restored(guest):
    run_stages(guest)
    for path in (guest.root / record.CONTENT.lstrip("/")).iterdir():
        path.write_text("damaged")
    reported = guest.baseline("restored", STAGES)
    why = "its recorded content is missing or damaged"
    assert reported["after"]["cannot"] == [{"what": f"file:{path}", "why": why} for path in (CHRONY, DAEMON)]
    assert not guest.files.exists(LIMITS)


def test_red_hat_guest_keeps_what_rpm_says_others_need(tmp_path):
    guest = Guest(tmp_path, ROCKY)
    guest.baseline("begun", ["guests"])
    guest.packages.update({"chrony": ["4.3", False, "libc6"], "perftest": ["24", False, ""]})
    guest.baseline("ended", ["guests"])
    guest.packages["theirs"] = ["1", False, "perftest"]
    reported = guest.baseline("restored", STAGES)
    assert reported["after"]["kept"] == [{"what": "package:perftest", "why": "theirs-1.x86_64 needs it"}]
    assert "chrony" not in guest.packages
    assert "perftest" in guest.packages


OLD, NEW, UNINSTALLER = "nvidia-linux-grid-535", "nvidia-linux-grid-550", "/usr/bin/nvidia-uninstall"


@pytest.mark.parametrize("release", [DEBIAN, ROCKY], ids=["debian", "rocky"])
@pytest.mark.parametrize("by_file", [False, True], ids=["package", "run file"])
@pytest.mark.parametrize("absent", [True, False], ids=["lost", "available"])
def test_guest_keeps_its_driver_if_the_earlier_one_is_in_no_repository(tmp_path, release, by_file, absent):
    guest = Guest(tmp_path, release)
    guest.put("/usr/bin/env")
    guest.packages.update({OLD: ["2.0-1", False, ""], "systemd-timesyncd": ["2.0-1", False, ""]})
    guest.baseline("begun", ["guests"])
    del guest.packages[OLD], guest.packages["systemd-timesyncd"]
    guest.packages.update({"chrony": ["4.3", False, ""], "dkms": ["3", False, ""], NEW: ["550", False, "dkms"]})
    if by_file:
        del guest.packages[NEW]
        guest.put(UNINSTALLER, "#!/bin/sh")
    guest.baseline("ended", ["guests"])
    guest.absent = {OLD} if absent else set()
    reported = guest.baseline("restored", STAGES)
    assert reported["failed"] is False
    assert (OLD in guest.packages, NEW in guest.packages) == (not absent, absent and not by_file)
    assert guest.files.exists(UNINSTALLER) is (absent and by_file)
    # Other packages return.
    assert ("systemd-timesyncd" in guest.packages, "chrony" in guest.packages) == (True, False)
    why = f"it replaced {OLD}, which cannot be installed again"
    kept = [{"what": f"file:{UNINSTALLER}" if by_file else f"package:{NEW}", "why": why}] if absent else []
    assert [one for one in reported["after"]["kept"] if one["what"] != "package:dkms"] == kept
    assert [one["what"] for one in reported["after"]["cannot"]] == [f"package:{OLD}"] * absent
    # The driver needs it for its module.
    assert ("dkms" in guest.packages) is absent
