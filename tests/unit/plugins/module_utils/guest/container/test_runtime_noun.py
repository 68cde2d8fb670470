# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.loading import Loading
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.runtime_noun import ContainerRuntime
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.service import Service

from unit.plugins.module_utils.guest.a_guest import Clock

from .fake_guest import DAEMON, GPU, Guest, answer

PLAIN = {
    "engine": "docker",
    "state": "present",
    "runtime_name": "nvidia",
    "runtime_path": "",
    "default_runtime": False,
    "cdi": False,
    "config": "",
    "restart": "safe",
}
NVIDIA = {"nvidia": {"path": "nvidia-container-runtime", "args": []}}
CONFIG, DROP_IN = "/etc/containerd/config.toml", "/etc/containerd/conf.d/99-nvidia.toml"


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path)


def ask(guest, check=False, **requested):
    wanted = request(RuntimeRequest, {**PLAIN, **requested})
    return answer(ContainerRuntime(wanted, guest, guest.files, Clock()), wanted, check=check)


def test_docker_gets_the_runtime_by_a_reload_and_keeps_its_containers(guest):
    guest.containers = ["training"]
    reported = ask(guest)
    assert reported["changed"]
    assert guest.daemon() == {"runtimes": NVIDIA}
    assert guest.loaded == guest.daemon()
    assert guest.did("systemctl", "restart") == 0
    assert guest.containers == ["training"]
    assert not ask(guest)["changed"]


def test_check_mode_predicts_what_is_then_done_and_does_nothing(guest):
    predicted = ask(guest, check=True, default_runtime=True)
    assert guest.daemon() == {}
    made = ask(guest, default_runtime=True)
    assert predicted["engine"] == made["engine"]
    assert predicted["diff"] == made["diff"]


def test_other_settings_and_flags_are_kept(guest):
    mine = {"log-level": "warn", "features": {"buildkit": True}, "runtimes": {"kata": {"path": "kata"}}}
    guest.version = "28.0.1"
    guest.write(DAEMON, json.dumps(mine))
    guest.settle()
    ask(guest, cdi=True)
    features, runtimes = {"buildkit": True, "cdi": True}, {**mine["runtimes"], **NVIDIA}
    assert guest.daemon() == {"log-level": "warn", "features": features, "runtimes": runtimes}
    ask(guest, state="absent", restart="allow")
    assert guest.daemon() == {**mine, "features": features}


def test_order_and_look_of_the_file_are_no_change(guest):
    guest.write(DAEMON, '{"runtimes":{"nvidia":{"args":[],"path":"nvidia-container-runtime"}},\n\n"debug":false}')
    guest.settle()
    assert not ask(guest)["changed"]


def test_default_is_taken_back_when_it_is_not_requested_any_more(guest):
    ask(guest, default_runtime=True)
    assert guest.loaded["default-runtime"] == "nvidia"
    ask(guest)
    assert guest.loaded == {"runtimes": NVIDIA}


def test_what_a_killed_run_wrote_is_loaded_by_the_next_one(guest):
    guest.write(DAEMON, json.dumps({"runtimes": NVIDIA}))
    reported = ask(guest)
    assert [change["path"] for change in reported["engine"]["changes"]] == ["engine"]
    assert guest.loaded == {"runtimes": NVIDIA}


def test_docker_that_started_before_the_toolkit_came_is_restarted_to_know_its_gpu_option(guest):
    guest.add_toolkit()
    predicted = ask(guest, check=True)
    reported = ask(guest)
    assert predicted["engine"] == reported["engine"]
    assert "gpu_option" in [change["path"] for change in reported["engine"]["changes"]]
    assert guest.did("systemctl", "restart", "docker.service") == 1
    assert not ask(guest)["changed"]


def test_gpu_option_is_no_reason_to_fail_for_running_containers(guest):
    ask(guest)
    guest.add_toolkit()
    guest.containers = ["training"]
    reported = ask(guest)
    assert not reported["changed"]
    assert reported["engine"]["pending"] == [{"what": "gpu_option", "needs": "engine_restart"}]
    assert ask(guest, restart="allow")["changed"]
    assert ask(guest)["engine"]["pending"] == []


def test_runtime_that_is_taken_out_needs_no_gpu_option(guest):
    ask(guest)
    guest.add_toolkit()
    ask(guest, state="absent")
    assert guest.did("systemctl", "restart", "docker.service") == 0


def test_restart_that_would_stop_containers_is_refused_before_anything_is_written(guest):
    guest.version = "28.0.1"
    guest.containers = ["training", "web"]
    for check in (True, False):
        reported = ask(guest, check=check, cdi=True)
        assert reported["failure"]["code"] == "containers_would_be_lost"
        assert reported["failure"]["containers"] == ["training", "web"]
        assert guest.daemon() == {}


@pytest.mark.parametrize(
    "circumstances",
    [
        pytest.param({"restart": "allow"}, id="when that is allowed"),
        pytest.param({"live_restore": True}, id="when containers live on without the engine"),
    ],
)
def test_engine_is_restarted_where_it_has_to_be(guest, circumstances):
    guest.version = "28.0.1"
    guest.containers = ["training"]
    guest.live_restore = circumstances.pop("live_restore", False)
    assert ask(guest, cdi=True, **circumstances)["changed"]
    assert guest.did("systemctl", "restart", "docker.service") == 1


def test_restart_is_left_to_the_user_and_reported_as_pending_until_then(guest):
    reported = ask(guest, restart="later")
    assert reported["engine"]["pending"] == [{"what": "engine", "needs": "engine_restart"}]
    assert guest.loaded == {}
    again = ask(guest, restart="later")
    assert not again["changed"]
    assert again["engine"]["pending"] == reported["engine"]["pending"]
    guest.settle()
    assert ask(guest, restart="later")["engine"]["pending"] == []


def test_engine_that_does_not_start_gets_its_old_file_back_with_the_journals_words(guest):
    guest.refuses = lambda config: "unable to configure the Docker daemon" if config.get("runtimes") else None
    guest.write(DAEMON, '{"debug": true}')
    guest.settle()
    reported = ask(guest)
    assert reported["failure"]["code"] == "engine_refused"
    assert "unable to configure the Docker daemon" in reported["msg"]
    assert "the engine runs with it" in reported["msg"]
    assert guest.daemon() == {"debug": True} == guest.loaded
    assert reported["engine"]["changed"]


@pytest.mark.parametrize("reread, count", [(True, 2), (False, 0)])
def test_units_of_systemd_are_read_again_with_the_restored_files(guest, reread, count):
    guest.refuses = lambda config: "unable to configure the Docker daemon" if config.get("runtimes") else None
    service = Service("docker.service", guest)

    guest.write(DAEMON, '{"runtimes": {"nvidia": {}}}')
    loading = Loading("docker on job-01", guest, "allow", Clock())
    with pytest.raises(OperatorError) as raised:
        loading.load([service], list, lambda: False, lambda: guest.write(DAEMON, "{}"), reread_units=reread)
    assert raised.value.code == "engine_refused"
    assert guest.did("systemctl", "daemon-reload") == count


def test_engine_that_does_not_reload_is_not_restarted_over_running_containers(guest):
    guest.reloads = False
    guest.containers = ["training"]
    reported = ask(guest)
    assert reported["failure"]["code"] == "engine_refused"
    assert guest.did("systemctl", "restart") == 0
    assert guest.daemon() == {}


def test_engine_that_is_off_is_configured_and_left_off(guest):
    guest.active["docker.service"] = False
    reported = ask(guest)
    assert reported["changed"]
    assert reported["engine"]["after"]["running"] is False
    assert guest.daemon() == {"runtimes": NVIDIA}
    assert guest.did("systemctl", "restart") == 0


BROKEN = {
    "a file that is no JSON": (
        lambda guest: guest.write(DAEMON, '{"a": 1,}'),
        "configuration_broken",
        "is not valid JSON",
    ),
    "a file that is a list": (lambda guest: guest.write(DAEMON, "[]"), "configuration_broken", "holds no names"),
    "no toolkit": (lambda guest: setattr(guest, "toolkit", None), "toolkit_missing", "is not installed"),
    "no engine": (lambda guest: guest.programs.clear(), "engine_missing", "The program `docker` is not installed"),
}


@pytest.mark.parametrize("spoil, code, said", BROKEN.values(), ids=BROKEN)
def test_broken_guest_is_reported_and_left_alone(guest, spoil, code, said):
    spoil(guest)
    before = guest.files.text(DAEMON)
    reported = ask(guest)
    assert reported["failure"]["code"] == code
    assert said in reported["msg"]
    assert guest.files.text(DAEMON) == before
    assert not reported["changed"]


def test_full_disk_leaves_the_old_file_and_the_engine_as_it_was(guest, monkeypatch):
    def full(path, *_args, **_options):
        raise OperatorError(path, "cannot write the file", "The disk is full", "Free space", "disk_full")

    monkeypatch.setattr(guest.files, "write", full)
    reported = ask(guest)
    assert reported["failure"]["code"] == "disk_full"
    assert guest.daemon() == {}
    assert guest.did("systemctl", "reload") == 0


def test_engine_that_is_too_old_for_devices_is_refused(guest):
    reported = ask(guest, cdi=True)
    assert reported["failure"]["code"] == "engine_too_old"
    assert guest.daemon() == {}


@pytest.mark.parametrize("unit", [True, False], ids=["by its service", "by the toolkit itself"])
def test_podman_hands_out_the_gpus_that_are_there_after_they_were_divided(guest, unit):
    guest.refresh_unit = unit
    guest.handed_out = ["nvidia.com/gpu=0", "nvidia.com/gpu=GPU-old", "nvidia.com/gpu=all"]
    reported = ask(guest, engine="podman")
    assert reported["engine"]["before"]["cdi_missing"] == [GPU]
    assert reported["engine"]["before"]["cdi_stale"] == ["GPU-old"]
    assert reported["engine"]["after"]["cdi_missing"] == []
    assert not ask(guest, engine="podman")["changed"]


def test_no_gpu_to_hand_out_is_an_error_with_the_drivers_words(guest):
    guest.listing = ""
    reported = ask(guest, engine="podman")
    assert reported["failure"]["code"] == "no_gpu"
    assert "No devices were found" in reported["msg"]


def test_containerd_gets_a_file_of_its_own_that_its_file_imports(guest):
    guest.write(CONFIG, "version = 2\n")
    guest.settle()
    predicted = ask(guest, check=True, engine="containerd")
    assert guest.files.text(DROP_IN) is None
    made = ask(guest, engine="containerd")
    assert predicted["engine"] == made["engine"]
    assert guest.files.text(CONFIG) == 'imports = ["/etc/containerd/conf.d/*.toml"]\nversion = 2\n'
    assert "/usr/bin/nvidia-container-runtime" in guest.files.text(DROP_IN)
    assert guest.did("systemctl", "restart", "containerd.service") == 1
    assert not ask(guest, engine="containerd")["changed"]
    assert ask(guest, engine="containerd", state="absent")["changed"]
    assert guest.files.text(DROP_IN) is None
    assert not ask(guest, engine="containerd", state="absent")["changed"]


def test_older_toolkit_writes_into_the_engines_file_and_that_is_not_taken_out_again(guest):
    guest.toolkit = "1.17.8"
    ask(guest, engine="containerd")
    assert "BinaryName" in guest.files.text(CONFIG)
    assert guest.files.text(DROP_IN) is None
    reported = ask(guest, engine="containerd", state="absent")
    assert reported["failure"]["code"] == "configured_in_place"


def test_a_file_that_cannot_be_written_leaves_those_before_it_as_they_were(guest):
    guest.write(CONFIG, "version = 2\n")
    # In the place of the folder of the second file.
    guest.write("/etc/containerd/conf.d", "")
    guest.settle()
    assert ask(guest, engine="containerd")["failure"]["code"] == "file_trouble"
    assert guest.files.text(CONFIG) == "version = 2\n"
    assert guest.did("systemctl", "restart") == 0
