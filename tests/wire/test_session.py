"""One login serves all tasks and forks, and what is kept of it is safe."""

from __future__ import annotations

import collections
import json
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import storm
from .drive import Driver, connection
from .neighbours import Line, serving

REQUEST = {"name": "train-01", "profiles": ["grid_a100-40c"], "check": True}


# The storm, in which each fork leaves a file in a folder when it asks for the lock of the session.
NOTED = """
import json, pathlib, os, sys
sys.path[:0] = json.loads(sys.argv[1])
import conftest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session_file import SessionStore
from wire import storm

lock = SessionStore._lock

def noted(store):
    pathlib.Path(sys.argv[4], str(os.getpid())).touch()
    return lock(store)

SessionStore._lock = noted
storm.main()
"""


def in_forks(options, forks=100, notes=None):
    """What so many forks were reported, by number."""
    options = {"validate_certs": True, "request_timeout_s": 60, **options}
    program = [storm.__file__] if notes is None else ["-c", NOTED]
    ended = subprocess.run(
        [sys.executable, *program, json.dumps(sys.path), json.dumps(options), str(forks), str(notes)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return collections.Counter(json.loads(ended.stdout))


def session_file(directory: Path):
    (found,) = directory.glob("*.json")
    return found


def test_a_hundred_forks_make_one_login_and_one_more_when_the_session_is_dropped(twin, tmp_path):
    running = twin()
    options = connection(running, tmp_path / "sessions")
    assert in_forks(options) == {"answered": 100}
    assert running.requests["Login"] == 1
    assert len(running.sessions) == 1
    running.control.drop_sessions()
    running.requests.clear()
    assert in_forks(options, forks=10) == {"answered": 10}
    assert running.requests["Login"] == 1


def test_forks_with_a_wrong_password_do_not_lock_the_account(twin, tmp_path, monkeypatch):
    running, notes = twin(), tmp_path / "notes"
    notes.mkdir()
    until = time.monotonic() + 120

    def until_all_wait(method):
        while method == "Login" and len(list(notes.iterdir())) < 10 and time.monotonic() < until:
            running.world.changed.wait(0.02)

    # vCenter locks after five. A fork that comes only after the first refusal has to ask for itself, so none does.
    monkeypatch.setattr(running.world.faults, "take_closing", until_all_wait)
    options = {**connection(running, tmp_path / "sessions"), "password": "wrong"}
    assert in_forks(options, 10, notes) == {"wrong_password": 10}
    assert running.requests["Login"] == 1


def test_only_the_owner_can_read_the_session_and_the_password_is_in_no_file(twin, tmp_path):
    running = twin()
    directory = tmp_path / "private" / "sessions"
    options = connection(running, directory)
    answer = Driver(options)("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}
    assert session_file(directory).exists()
    assert not any(running.password in path.read_text() for path in directory.iterdir())
    assert running.password not in json.dumps(answer)


def test_the_second_task_makes_no_login(twin, drive):
    running = twin()
    module = drive(running)
    module("vgpu_profile", **REQUEST)
    running.requests.clear()
    module("vgpu_profile", **REQUEST)
    assert running.requests["Login"] == running.requests["RetrieveServiceContent"] == 0
    assert len(running.sessions) == 1


def test_a_session_for_once_logs_out_and_leaves_nothing(twin, tmp_path):
    running = twin()
    directory = tmp_path / "sessions"
    module = Driver(connection(running, directory))
    answers = [
        module("vgpu_profile", session="once", **REQUEST),
        module("vgpu_profile", session="once", **{**REQUEST, "name": "nobody"}),
    ]
    assert [answer["failed"] for answer in answers] == [False, True]
    assert running.requests["Login"] == running.requests["Logout"] == 2
    assert running.sessions == []
    assert not directory.exists()


def _change(name, value):
    def change(path):
        path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))

    return change


def _link(path):
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_text(""),
        lambda path: path.write_text(path.read_text()[:100]),
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
        lambda path: path.write_text("[]"),
        lambda path: path.chmod(0o644),
        _link,
        _change("format", 99),
        _change("services", "none"),
        _change("cookie", 'vmware_soap_session="00"'),
        lambda path: path.unlink(),
    ],
    ids=[
        "empty",
        "cut off",
        "not text",
        "another structure",
        "readable for others",
        "symbolic link",
        "of another version",
        "damaged content",
        "stale cookie",
        "gone",
    ],
)
def test_a_session_file_that_cannot_be_trusted_costs_one_login_and_nothing_else(twin, tmp_path, spoil):
    running = twin()
    module = Driver(connection(running, tmp_path / "sessions"))
    module("vgpu_profile", **REQUEST)
    spoil(session_file(tmp_path / "sessions"))
    running.requests.clear()
    answers = [module("vgpu_profile", **REQUEST) for _again in range(2)]
    assert [answer["failed"] for answer in answers] == [False, False], answers[0].get("msg")
    assert running.requests["Login"] == 1
    assert stat.S_IMODE(session_file(tmp_path / "sessions").lstat().st_mode) == 0o600


def test_a_directory_that_others_may_enter_is_refused(twin, tmp_path):
    running = twin()
    directory = tmp_path / "sessions"
    directory.mkdir(mode=0o755)
    answer = Driver(connection(running, directory))("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == "session_dir_unsafe"
    assert answer["msg"] == (
        f"{directory}: is not a private directory for vCenter sessions. Others may enter it (its mode is 0755). "
        "Give it to the user who runs Ansible, with mode 0700, or set `session_dir` to another one."
    )
    assert running.requests.total() == 0


class Moved:
    """An address whose server is replaced by another one, with another certificate."""

    def __init__(self, line, port, first, second, directory):
        self._line, self._second = line, second
        both = directory / "both.pem"
        both.write_text(first.ca_file.read_text() + second.ca_file.read_text())
        self.options = {**connection(first, directory / "sessions"), "port": port, "ca_file": str(both)}

    def move(self):
        self._line.upstream_port = self._second.port


@pytest.fixture
def moved(twin, tmp_path):
    first, second = twin(), twin()
    line = Line(first.port)
    with serving(line) as port:
        yield Moved(line, port, first, second, tmp_path), second


def test_a_new_certificate_that_verifies_gets_a_new_session_and_not_the_old_cookie(moved):
    address, second = moved
    module = Driver(address.options)
    module("vgpu_profile", **REQUEST)
    address.move()
    answer = module("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert second.requests["Login"] == 1


def test_a_new_certificate_without_validation_is_refused_before_anything_secret_is_sent(moved):
    address, second = moved
    # With a ca_file beside it, the module refuses to begin.
    unverified = {key: value for key, value in address.options.items() if key != "ca_file"}
    module = Driver({**unverified, "validate_certs": False})
    module("vgpu_profile", **REQUEST)
    address.move()
    answer = module("vgpu_profile", **REQUEST)
    assert answer["failure"]["code"] == "certificate_changed"
    assert "but the session was opened with" in answer["msg"]
    assert "turn validation on" in answer["msg"]
    assert second.requests.total() == 0
