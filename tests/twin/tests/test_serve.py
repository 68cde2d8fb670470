"""The twin as a process of its own: how it is found, asked for trouble, and stopped."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import ssl
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from pyVim.connect import Disconnect, SmartConnect

import vsphere_twin
from twin_labs.saved import save
from vsphere_twin.model import seed as seeds

SOURCES = Path(vsphere_twin.__file__).resolve().parents[1]
LIMIT_S = 300  # that only something broken reaches


@contextlib.contextmanager
def process(*arguments, **env):
    started = subprocess.Popen(
        [sys.executable, "-m", "vsphere_twin", "serve", "--port", "0", *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCES), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # The tests themselves may run under nohup, which is inherited.
        preexec_fn=functools.partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def ask(endpoint, verb="", token=None, **options):
    request = urllib.request.Request(
        f"{endpoint['control_url']}/{verb}",
        data=json.dumps(options).encode() if verb else None,
        headers={"Authorization": f"Bearer {token or endpoint['control_token']}"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_endpoint_file_says_all_and_is_gone_after_the_signal(tmp_path, number):
    with process("--state-dir", str(tmp_path)) as started:
        assert "answers at https://127.0.0.1:" in started.stdout.readline()
        file = tmp_path / "endpoint.json"
        endpoint = json.loads(file.read_text())
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert Path(endpoint["ca_file"]).is_file()
        assert stat.S_IMODE(Path(endpoint["ssh_key_file"]).stat().st_mode) == 0o600
        host = endpoint["hosts"]["esx-01.lab.example"]
        assert (host["ssh_host"], host["bmc_url"].rpartition(":")[0]) == ("127.0.0.1", "https://127.0.0.1")
        assert ask(endpoint)["total"] == 0
        assert ask(endpoint, "latency", seconds=0.01)["sessions"] == []
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(endpoint, "nonsense")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(endpoint, token="wrong")
        started.send_signal(number)
        assert started.wait(timeout=LIMIT_S) == 0
        assert not file.exists()
        assert not Path(endpoint["ca_file"]).exists()


def test_a_twin_may_be_without_shells_and_bmcs(tmp_path):
    with process("--state-dir", str(tmp_path), "--faces", "none") as started:
        started.stdout.readline()
        endpoint = json.loads((tmp_path / "endpoint.json").read_text())
        assert endpoint["hosts"] == {}
        assert not {"ssh_key_file", "bmc_password"}.intersection(endpoint)


def test_a_twin_of_a_capture_serves_its_hosts_and_names_its_assumptions(tmp_path):
    folder, state = save(seeds.load("small"), tmp_path / "saved"), tmp_path / "state"
    with process("--capture", str(folder), "--state-dir", str(state), "--faces", "none") as started:
        last = next(line for line in iter(started.stdout.readline, "") if line.startswith("Loaded the capture of "))
        twin, assumed = (json.loads((state / name).read_text()) for name in ("endpoint.json", "assumptions.json"))
        assert last.endswith(f" with {len(assumed['assumptions'])} assumptions.\n")
        trust = ssl.create_default_context(cafile=twin["ca_file"])
        words = {"host": twin["host"], "port": twin["port"], "user": twin["username"], "pwd": twin["password"]}
        client = SmartConnect(**words, sslContext=trust)
        (center,) = client.content.rootFolder.childEntity
        (cluster,) = center.hostFolder.childEntity
        assert [host.name for host in cluster.host] == ["esx-01.lab.example", "esx-02.lab.example"]
        Disconnect(client)


def test_an_unknown_face_is_refused_with_those_that_exist():
    with process("--faces", "telnet") as started:
        _out, errors = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 2
    faces = "ssh, redfish, switches, controller, kubernetes, guests, depot, registry"
    assert f"there is no telnet; choose from {faces}, or none" in errors


def test_unknown_seed_is_said_in_a_sentence():
    with process("--seed", "nowhere") as started:
        _out, errors = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 1
    assert "nowhere" in errors
    assert "Traceback" not in errors


def test_guests_without_a_container_engine_end_with_a_status_of_their_own():
    with process("--faces", "guests", PATH="/nowhere", DOCKER_HOST="unix:///nowhere") as started:
        _out, errors = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 3
    assert errors.startswith("No Docker answers at unix:///nowhere.\n")


WITHOUT = """
import importlib.util, runpy, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "docker" else found(name, *more)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    "words, status",
    [(["vsphere_twin", "serve", "--port", "0", "--faces", "guests"], 3), (["vsphere_twin.guests", "status"], 1)],
)
def test_guests_without_the_library_for_engines_say_how_to_get_it(words, status):
    env = {**os.environ, "PYTHONPATH": str(SOURCES)}
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], env=env, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert (ended.returncode, ended.stdout) == (status, "")
    assert ended.stderr == (
        "Guests need the Python package docker, which is not installed.\n"
        "Install it with: pip install 'vsphere-twin[guests]'\n"
    )
