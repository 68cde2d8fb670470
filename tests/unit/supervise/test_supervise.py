"""However a command ends, nothing of it is left: at once, or after the next command where all of it was killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from supervise import processes, runs

pytestmark = pytest.mark.skipif(not processes.SUPPORTED, reason="processes are found in /proc")
PATIENCE_S = 60
# A command as bad as they come: a child in a session of its own, whose parent has ended, and that heeds no signal; one
# without any environment but the home; files in the folder for temporary files.
WORK = """
import os, signal, subprocess, sys, tempfile, time
mark, home = sys.argv[1:]
tempfile.mkdtemp()
deaf = "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 15)]; time.sleep(300)"
if os.fork() == 0:
    os.setsid()
    subprocess.Popen([sys.executable, "-c", deaf, mark])
    bare = [sys.executable, "-c", "import time; time.sleep(300)", mark]
    subprocess.Popen(bare, env={"HOME": home}, start_new_session=True)
    os._exit(0)
os.wait()
print("ready", os.getpid(), flush=True)
try:
    time.sleep(300)
except KeyboardInterrupt:
    sys.exit(130)
"""


class Checkout:
    """A checkout with nothing but what supervises commands; its own folder for temporary files is tmp."""

    def __init__(self, folder: Path):
        self.folder, self.tmp = folder, folder / "t"
        shutil.copytree(runs.ROOT / "tests" / "supervise", folder / "tests" / "supervise")
        # Tests need not wait as long as containers do.
        for file, name, seconds in (("processes", "PATIENCE_S", "1"), ("keeper", "GRACE_S", "5")):
            path = folder / "tests" / "supervise" / f"{file}.py"
            lines = [
                f"{name} = {seconds}" if line.startswith(f"{name} =") else line
                for line in path.read_text().splitlines()
            ]
            path.write_text("\n".join(lines) + "\n")
        self.started = []
        self.mark = f"mark-{folder.name}-{os.getpid()}"

    def start(self, *argv, **env):
        """A command that is supervised."""
        clean = {name: value for name, value in os.environ.items() if name not in (runs.RUN, "AIREADY_MAKE")}
        process = subprocess.Popen(
            [sys.executable, "-m", "supervise", *(argv or self.work())],
            env={**clean, "PYTHONPATH": str(self.folder / "tests"), **env},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def work(self):
        return sys.executable, "-c", WORK, self.mark, str(self.folder / ".build" / "home")

    def ready(self, process):
        """The three processes of a command that has come to its work: front, keeper, command."""
        word, number = process.stdout.readline().split()
        assert word == "ready"
        return [process.pid, processes.parents()[int(number)], int(number)]

    def left(self):
        """Processes of a command, by the mark on their command lines."""
        found = []
        for one in processes.parents():
            try:
                words = Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if self.mark.encode() in words:
                found.append(one)
        return found

    def soon_left(self):
        """The same once the kernel is done with those that were ended, which takes a moment on a busy machine."""
        until = time.monotonic() + PATIENCE_S
        while self.left() and time.monotonic() < until:
            time.sleep(0.05)
        return self.left()

    def folders(self):
        """Folders for temporary files of commands of this checkout."""
        files = (self.folder / ".build" / "runs").glob("*.json")
        return [json.loads(file.read_text())["folder"] for file in files]

    def nothing_left(self):
        awaited(lambda: not self.left() and not self.folders())
        return True


def awaited(moment):
    until = time.monotonic() + PATIENCE_S
    while not moment():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


@pytest.fixture
def checkout(tmp_path):
    # Under nohup a command does not end by it.
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    made = Checkout(tmp_path / "checkout")
    yield made
    signal.signal(signal.SIGHUP, hangup)
    for process in made.started:
        process.terminate()
        process.wait(PATIENCE_S)
        process.stdout.close()
    for one in made.left():
        os.kill(one, signal.SIGKILL)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
@pytest.mark.parametrize("whom", [0, 1, 2], ids=["front", "keeper", "command"])
def test_nothing_is_left_when_one_of_the_three_gets_a_signal(checkout, number, whom):
    process = checkout.start()
    three = checkout.ready(process)
    (folder,) = map(Path, checkout.folders())
    assert folder.is_dir()
    awaited(lambda: len(checkout.left()) == 5)
    os.kill(three[whom], number)
    assert checkout.nothing_left()
    assert process.wait(PATIENCE_S) != 0
    assert not folder.exists()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_nothing_is_left_when_the_signal_comes_at_once(checkout, number):
    process = checkout.start()
    # Before there is a keeper, the next command of the checkout cleans up.
    awaited(lambda: list((checkout.folder / ".build" / "runs").glob("*.keeper")))
    process.send_signal(number)
    process.wait(PATIENCE_S)
    assert checkout.nothing_left()


def test_nothing_is_left_of_a_command_that_ends_by_itself(checkout):
    process = checkout.start(
        sys.executable,
        "-c",
        f"import sys; sys.argv[1:] = {list(checkout.work()[3:])!r}\n"
        + WORK.replace("time.sleep(300)\nexcept", "sys.exit(3)\nexcept"),
    )
    assert process.wait(PATIENCE_S) == 3
    assert checkout.nothing_left()


def test_a_second_signal_ends_a_command_that_does_not_heed_the_first(checkout):
    deaf = (
        "import os, signal, time; signal.signal(2, signal.SIG_IGN);"
        "print('ready', os.getpid(), flush=True); time.sleep(300)"
    )
    process = checkout.start(sys.executable, "-c", deaf, checkout.mark)
    checkout.ready(process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)  # two signals of one kind are one where nobody has taken the first
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 128 + signal.SIGKILL
    assert checkout.nothing_left()


def test_the_next_command_removes_what_one_left_of_which_all_was_killed(checkout):
    process = checkout.start()
    three = checkout.ready(process)
    (folder,) = map(Path, checkout.folders())
    for one in three:
        os.kill(one, signal.SIGSTOP)
    for one in three:
        os.kill(one, signal.SIGKILL)
    process.wait()
    awaited(lambda: not set(three) & set(checkout.left()))
    assert (len(checkout.left()), folder.exists()) == (2, True)
    assert checkout.start("true").wait(PATIENCE_S) == 0
    assert (checkout.soon_left(), checkout.folders(), folder.exists()) == ([], [], False)


def test_what_a_live_command_owns_is_left_alone_by_the_next_one(checkout):
    checkout.ready(checkout.start())
    before, folders = sorted(checkout.left()), checkout.folders()
    assert checkout.start("true").wait(PATIENCE_S) == 0
    assert (sorted(checkout.left()), checkout.folders()) == (before, folders)


def test_what_another_checkout_left_is_left_alone(checkout, tmp_path):
    other = Checkout(tmp_path / "other")
    process = other.start()
    three = other.ready(process)
    for one in three:
        os.kill(one, signal.SIGSTOP)
    for one in three:
        os.kill(one, signal.SIGKILL)
    process.wait()
    assert checkout.start("true").wait(PATIENCE_S) == 0
    assert len(other.left()) == 2
    assert other.start("true").wait(PATIENCE_S) == 0
    assert other.soon_left() == []


def test_a_container_engine_that_was_started_stays(checkout, tmp_path):
    engine = tmp_path / "dockerd"
    shutil.copy(shutil.which("sleep"), engine)
    start = (
        f"import subprocess; print(subprocess.Popen([{str(engine)!r}, '100'], start_new_session=True).pid, flush=True)"
    )
    process = checkout.start(sys.executable, "-c", start)
    number = int(process.stdout.readline())
    try:
        assert process.wait(PATIENCE_S) == 0
        assert number in processes.parents()
        assert checkout.start("true").wait(PATIENCE_S) == 0
        assert number in processes.parents()
    finally:
        os.kill(number, signal.SIGKILL)


def test_what_an_engine_of_a_gate_started_stays_with_the_engine(checkout, tmp_path):
    """Docker starts a proxy for each published port, also of containers of others, in its own environment."""
    noted = tmp_path / "number"
    serve = (
        "import subprocess, time; open('/proc/self/comm', 'w').write('dockerd');"
        "proxy = subprocess.Popen(['/bin/sleep', '300']);"
        f"open({str(noted)!r}, 'w').write(str(proxy.pid)); time.sleep(300)"
    )
    home = {"HOME": str(checkout.folder / ".build" / "home")}
    docker = subprocess.Popen([sys.executable, "-c", serve], env=home, start_new_session=True)
    try:
        awaited(lambda: noted.exists() and noted.read_text())
        assert checkout.start("true").wait(PATIENCE_S) == 0
        assert {docker.pid, int(noted.read_text())} <= set(processes.parents())
    finally:
        os.killpg(docker.pid, signal.SIGKILL)
        docker.wait()


def test_a_command_ends_when_the_make_that_runs_it_was_killed(checkout):
    make = subprocess.Popen(["sleep", "300"])
    process = checkout.start(AIREADY_MAKE=str(make.pid))
    checkout.ready(process)
    make.kill()
    make.wait()
    assert process.wait(PATIENCE_S) == 130
    assert checkout.nothing_left()


def test_a_command_goes_on_under_nohup(checkout):
    process = checkout.start("nohup", "true")
    assert process.wait(PATIENCE_S) == 0
    ignoring = (
        "import os, signal, sys; signal.signal(1, signal.SIG_IGN);"
        "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    )
    clean = {name: value for name, value in os.environ.items() if name != runs.RUN}
    process = subprocess.Popen(
        [sys.executable, "-c", ignoring, "-m", "supervise", *checkout.work()],
        env={**clean, "PYTHONPATH": str(checkout.folder / "tests")},
        stdout=subprocess.PIPE,
        text=True,
    )
    checkout.started.append(process)
    checkout.ready(process)
    process.send_signal(signal.SIGHUP)
    time.sleep(1)
    assert process.poll() is None
    process.terminate()
    assert process.wait(PATIENCE_S) == 130
    assert checkout.nothing_left()


@pytest.mark.parametrize("program, status", [("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
def test_the_status_is_that_of_the_command(checkout, program, status):
    assert checkout.start("sh", "-c", program).wait(PATIENCE_S) == status


def test_a_command_that_another_one_runs_shares_its_folder(checkout):
    inner = f"{sys.executable} -m supervise sh -c 'echo $TMPDIR'"
    outer = checkout.start("sh", "-c", f"echo $TMPDIR; {inner}")
    first, second = outer.communicate()[0].split()
    assert first == second


@pytest.mark.parametrize("folder", ["a folder", "x" * 60, "quo'te"], ids=["space", "long", "quote"])
def test_a_folder_that_tools_cannot_cope_with_is_not_used(checkout, tmp_path, folder):
    (tmp_path / folder).mkdir()
    process = checkout.start("sh", "-c", "echo $TMPDIR", TMPDIR=str(tmp_path / folder))
    assert process.communicate()[0].startswith("/tmp/aiready-")


def test_a_folder_that_other_users_cannot_enter_is_not_used(checkout):
    with tempfile.TemporaryDirectory(prefix="x", dir="/tmp") as closed:
        said = []
        for mode in (0o700, 0o755):
            Path(closed).chmod(mode)
            said.append(checkout.start("sh", "-c", "echo $TMPDIR", TMPDIR=closed).communicate()[0])
    assert [one.rpartition("/")[0] for one in said] == ["/tmp", closed]


@pytest.mark.parametrize("made", [True, False])
def test_containers_that_cannot_be_removed_now_are_remembered(checkout, made):
    """This checkout has no Python that could remove them."""
    code = "import os, pathlib; place = pathlib.Path(os.environ['VSPHERE_TWIN_LABS']); print(place)"
    process = checkout.start(sys.executable, "-c", f"{code}; {made} and place.touch()")
    place = Path(process.stdout.readline().strip())
    assert process.wait(PATIENCE_S) == 0
    assert (place.exists(), place.with_suffix(".json").exists()) == (made, made)
