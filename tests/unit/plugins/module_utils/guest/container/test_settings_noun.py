# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import documented
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import settings_of
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_noun import EngineSettings

from unit.plugins.module_utils.guest.a_guest import Clock

from .fake_guest import DAEMON, Guest, answer

PLAIN = {
    "engine": "docker",
    "memlock": "ignore",
    "proxy": None,
    "insecure_registries": [],
    "secure_registries": [],
    "restart": "safe",
}
PROXY = {
    "http": "http://p.example:3128",
    "https": "",
    "no_proxy": ["a.example"],
    "username": "me",
    "password": "canary",
}
ENV_FILE = "/etc/docker/proxy.env"
REFERENCE = "/etc/systemd/system/docker.service.d/50-aiready-proxy.conf"


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path)


def ask(guest, check=False, **requested):
    wanted = settings_of({**PLAIN, **requested})
    return answer(EngineSettings(wanted, guest, guest.files, Clock()), wanted, check=check)


def test_engine_and_what_starts_its_containers_may_lock_all_memory(guest):
    predicted = ask(guest, check=True, memlock="unlimited")
    made = ask(guest, memlock="unlimited")
    assert predicted["engine"] == made["engine"]
    assert guest.memlock == {"docker.service": "infinity", "containerd.service": "infinity"}
    assert guest.did("systemctl", "restart", "containerd.service") == 1
    assert guest.did("systemctl", "restart", "docker.service") == 1
    assert not ask(guest, memlock="unlimited")["changed"]


def test_proxys_password_is_in_a_file_that_root_alone_reads_and_nowhere_else(guest):
    reported = ask(guest, proxy=PROXY)
    assert guest.files.mode(ENV_FILE) == 0o600
    assert "canary" in guest.files.text(ENV_FILE)
    assert "canary" not in guest.files.text(REFERENCE)
    assert "canary" not in json.dumps(reported)
    assert not any("canary" in word for argv in guest.asked for word in argv)
    assert not ask(guest, proxy=PROXY)["changed"]


def test_another_password_is_a_change_that_does_not_show_it(guest):
    ask(guest, proxy=PROXY)
    reported = ask(guest, proxy={**PROXY, "password": "other"})
    (change,) = reported["engine"]["changes"]
    assert (change["before"], change["after"]) == ("another one", "set")


def test_proxy_is_taken_away_and_one_that_is_not_spoken_of_is_left(guest):
    ask(guest, proxy=PROXY)
    assert not ask(guest)["changed"]
    ask(guest, proxy={**PROXY, "http": "", "no_proxy": [], "username": "", "password": ""})
    assert guest.files.text(ENV_FILE) is None
    assert guest.files.text(REFERENCE) is None


def test_registries_are_reported_by_a_reload_and_others_are_kept(guest):
    guest.write(DAEMON, json.dumps({"insecure-registries": ["theirs:5000", "old:5000"], "debug": True}))
    guest.settle()
    guest.containers = ["training"]
    ask(guest, insecure_registries=["mine:5000"], secure_registries=["old:5000"])
    assert guest.loaded == {"insecure-registries": ["theirs:5000", "mine:5000"], "debug": True}
    assert guest.containers == ["training"]
    assert not ask(guest, insecure_registries=["mine:5000"], secure_registries=["old:5000"])["changed"]


@pytest.mark.parametrize(
    "killed",
    [
        pytest.param({"memlock": "unlimited"}, id="a limit"),
        pytest.param({"proxy": PROXY}, id="a proxy"),
        pytest.param({"insecure_registries": ["mine:5000"]}, id="a registry"),
    ],
)
def test_what_a_killed_run_wrote_is_loaded_by_the_next_one(guest, killed):
    assert ask(guest, restart="later", **killed)["engine"]["pending"]
    assert not ask(guest, restart="later", **killed)["changed"]
    reported = ask(guest, **killed)
    assert [change["path"] for change in reported["engine"]["changes"]] == ["engine"]
    assert reported["engine"]["pending"] == []
    assert not ask(guest, **killed)["changed"]


def test_running_containers_are_named_and_nothing_is_written(guest):
    guest.containers = ["training"]
    reported = ask(guest, memlock="unlimited")
    assert reported["failure"] == documented(
        "containers_would_be_lost", containers=["training"], subject=reported["failure"]["subject"]
    )
    assert guest.files.names("/etc/systemd/system") == []
    assert guest.did("systemctl", "daemon-reload") == 0


def test_engine_that_does_not_start_gets_its_old_settings_back(guest):
    words = "directives are specified both as a flag and in the configuration file"
    guest.refuses = lambda config: words if config.get("insecure-registries") else None
    reported = ask(guest, insecure_registries=["mine:5000"])
    assert reported["failure"]["code"] == "engine_refused"
    assert words in reported["msg"]
    assert guest.daemon() == {}
    assert guest.active["docker.service"]


def test_no_service_of_that_name_is_reported(guest):
    del guest.active["docker.service"]
    assert ask(guest)["failure"]["code"] == "engine_missing"


def test_containerd_alone_is_set_up_without_docker(guest):
    ask(guest, engine="containerd", memlock="unlimited", proxy=PROXY)
    assert guest.did("systemctl", "restart", "docker.service") == 0
    assert guest.files.mode("/etc/containerd/proxy.env") == 0o600
    assert not ask(guest, engine="containerd", memlock="unlimited", proxy=PROXY)["changed"]


def test_a_file_that_cannot_be_written_leaves_those_before_it_as_they_were(guest):
    first, theirs = "/etc/systemd/system/containerd.service.d/50-aiready-memlock.conf", "[Service]\nLimitMEMLOCK=1G\n"
    guest.write(first, theirs)
    # In the place of the folder of the second file.
    guest.write("/etc/systemd/system/docker.service.d", "")
    guest.settle()
    assert ask(guest, memlock="unlimited")["failure"]["code"] == "file_trouble"
    assert guest.files.text(first) == theirs
    assert guest.did("systemctl", "restart") == 0
