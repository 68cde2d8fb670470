# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import threading
import time
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session_file
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session_file import SessionStore, State

FORKS = 100


def state(cookie="c-1"):
    return State(cookie, "vim.version.v8_0_3_0", "AA:BB", "uuid-1", {"apiVersion": "8.0.3.0"}, {})


def store(directory: Path, warn=None, user="ops@vsphere.local", patience_s=60):
    warnings = []
    return session_file.open_store(
        str(directory), "vc.example:443", user, "9.1.1.0", patience_s, warn or warnings.append
    )


@pytest.fixture
def private(tmp_path):
    return tmp_path / "sessions"


def test_file_and_directory_are_for_the_owner_only(private):
    kept = store(private)
    kept.save(state())
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(kept.path).stat().st_mode) == 0o600


def test_what_was_saved_is_what_is_loaded_and_no_draft_stays(private):
    kept = store(private)
    kept.save(state())
    assert kept.load() == state()
    assert [path.name for path in private.iterdir()] == [Path(kept.path).name]


def test_every_user_and_server_has_a_file_of_its_own(private):
    assert store(private).path != store(private, user="root").path


def test_the_name_of_the_file_reports_neither_user_nor_server(private):
    assert "ops" not in Path(store(private).path).name


@pytest.mark.parametrize(
    "content",
    ["", "not json", "[]", "{}", json.dumps({"cookie": "c"}), json.dumps({**vars(state()), "format": 99})]
    + [json.dumps({**vars(state()), "cookie": value}) for value in ("", 7)]
    + [json.dumps({**vars(state()), "services": "x"})],
)
def test_a_file_that_cannot_be_used_means_a_login_and_no_error(private, content):
    kept = store(private)
    kept.save(state())
    Path(kept.path).write_text(content)
    assert kept.load() is None
    assert kept.fresh(None, lambda: state("c-2")).cookie == "c-2"
    assert kept.load().cookie == "c-2"


def test_a_file_that_others_may_read_is_not_trusted(private):
    kept = store(private)
    kept.save(state())
    Path(kept.path).chmod(0o644)
    assert kept.load() is None


def test_a_link_in_place_of_the_file_is_not_followed(private, tmp_path):
    kept = store(private)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(json.dumps(vars(state())))
    elsewhere.chmod(0o600)
    Path(kept.path).symlink_to(elsewhere)
    assert kept.load() is None
    kept.save(state("c-2"))
    assert json.loads(elsewhere.read_text())["cookie"] == "c-1"


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_directory_that_others_may_enter_is_refused(private, mode):
    private.mkdir()
    private.chmod(mode)
    with pytest.raises(OperatorError, match="Others may enter it") as caught:
        store(private)
    assert caught.value.code == "session_dir_unsafe"


def test_a_directory_of_somebody_else_is_refused(private, monkeypatch):
    private.mkdir(mode=0o700)
    monkeypatch.setattr(session_file.os, "geteuid", lambda: private.stat().st_uid + 1)
    with pytest.raises(OperatorError, match="It belongs to the user with id"):
        store(private)


def test_a_link_in_place_of_the_lock_is_not_followed(private, tmp_path):
    warnings = []
    kept = store(private, warnings.append)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    Path(kept.path).with_suffix(".lock").symlink_to(elsewhere)

    def refused():
        raise OperatorError("vc", "log in", "InvalidLogin", "Check", "wrong_password")

    with pytest.raises(OperatorError):
        kept.fresh(None, refused)
    assert elsewhere.read_text() == "precious"
    assert "cannot be locked" in warnings[0]


def test_a_link_in_place_of_the_directory_is_refused(private, tmp_path):
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    private.symlink_to(real)
    with pytest.raises(OperatorError, match="symbolic link"):
        store(private)


def test_a_directory_that_cannot_be_made_costs_one_warning_only(tmp_path):
    (tmp_path / "file").write_text("")
    warnings = []
    assert store(tmp_path / "file" / "sessions", warnings.append) is None
    assert len(warnings) == 1


def test_the_directory_follows_the_cache_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = session_file.open_store(None, "vc:443", "u", "9", 1, print)
    assert Path(kept.path).parent == tmp_path / "aiready.vsphere" / "sessions"


def test_a_session_that_others_have_renewed_meanwhile_is_taken_over(private):
    kept = store(private)
    kept.save(state("c-2"))
    assert kept.fresh("c-1", pytest.fail).cookie == "c-2"


def test_a_stale_session_is_replaced_by_a_login(private):
    kept = store(private)
    kept.save(state("c-1"))
    assert kept.fresh("c-1", lambda: state("c-2")).cookie == "c-2"
    assert kept.load().cookie == "c-2"


def renew(directory, stale, start, answers):
    """One fork: logs in, if it has to, by a server that counts in a file and takes its time."""
    kept = store(directory)

    def login():
        with open(directory / "logins", "a") as file:
            file.write("x")
        time.sleep(0.1)
        return state(f"c-{os.getpid()}")

    start.wait()
    answers.put(kept.fresh(stale, login).cookie)


def forks(directory, work, count=FORKS, **arguments):
    context = multiprocessing.get_context("fork")
    start, answers = context.Event(), context.Queue()
    processes = [
        context.Process(target=work, args=(directory,), kwargs=dict(arguments, start=start, answers=answers))
        for dummy in range(count)
    ]
    for process in processes:
        process.start()
    start.set()
    try:
        return [answers.get(timeout=60) for dummy in processes]
    finally:
        for process in processes:
            process.join(10)
            process.kill()


@pytest.mark.parametrize("stale", [None, "c-1"], ids=["first", "dropped"])
def test_a_hundred_forks_make_one_login(private, stale):
    kept = store(private)
    if stale:
        kept.save(state(stale))
    cookies = forks(private, renew, stale=stale)
    assert (private / "logins").read_text() == "x"
    assert set(cookies) == {kept.load().cookie}


@pytest.mark.parametrize("code", ["wrong_password", "vcenter_timeout"])
def test_a_login_that_cannot_succeed_is_tried_once_and_reported_to_all_who_waited_for_it(private, code):
    private.mkdir(mode=0o700)
    refusal = OperatorError("vc.example", "log in as ops", "That was not possible", "Check", code)
    waits = threading.Event()
    reported = []

    def wait_for_the_other():
        waiter = SessionStore(str(private), "key", 60, pytest.fail, sleep=lambda seconds: waits.set())
        try:
            waiter.fresh(None, lambda: reported.append("logged in too"))
        except OperatorError as error:
            reported.append(error.message)

    thread = threading.Thread(target=wait_for_the_other)

    def login():
        thread.start()
        waits.wait(30)
        raise refusal

    with pytest.raises(OperatorError):
        SessionStore(str(private), "key", 60, pytest.fail).fresh(None, login)
    thread.join(30)
    assert reported == [refusal.message]


def test_a_refusal_of_yesterday_does_not_keep_anybody_out(private):
    kept = store(private)

    def refused():
        raise OperatorError("vc", "log in", "InvalidLogin", "Check", "wrong_password")

    with pytest.raises(OperatorError):
        kept.fresh(None, refused)
    assert kept.fresh(None, lambda: state("c-9")).cookie == "c-9"


def test_who_waits_too_long_for_the_lock_says_so(private):
    kept = store(private, patience_s=0)
    with kept._lock() as held:
        assert held
        with pytest.raises(OperatorError) as caught:
            kept.fresh(None, pytest.fail)
    assert caught.value.code == "session_lock"
