"""What engines refuse is reported with what it asks for."""

from __future__ import annotations

import io
import tarfile
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import scripts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import steps as training_steps
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.steps import Steps

from unit.plugins.module_utils.training.runs import request

REQUEST = request(image="images.example/training:1", ssh_port=2222)
CAPS = (
    "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: unable to apply caps: operation not permitted: unknown."
)


def refused(step, said, status=125):
    """The error of a step whose engine says this; what comes before it goes well."""

    def run(argv):
        return Completed(tuple(argv), status, "", said)

    guest = SimpleNamespace(name="job-01", run=run, script=lambda *_how, **_more: Completed(("sh",), 0, "", ""))
    arguments = {"pull": (), "start": (["docker", "run"], {})}[step]
    with pytest.raises(OperatorError) as trouble:
        getattr(Steps(REQUEST, "run"), step)(guest, *arguments)
    return trouble.value


@pytest.mark.parametrize(
    "step, said, code, todo",
    [
        ("start", CAPS, "capability_refused", "IPC_LOCK"),
        ("start", "docker: error setting rlimit type 8: operation not permitted", "memlock_refused", "memlock: ignore"),
        ("start", 'could not select device driver "" with capabilities: [[gpu]]', "no_gpu_runtime", "Toolkit"),
        ("start", "something that nobody knows", "not_started", "Run the command on the guest"),
        ("pull", "write /var/lib/docker/tmp: no space left on device", "no_space", "Free space"),
        (
            "pull",
            "Error response from daemon: unauthorized: authentication required",
            "not_logged_in",
            "Run container_registry_login",
        ),
        ("pull", "tls: failed to verify certificate: x509: unknown authority", "registry_not_trusted", "authority"),
        ("pull", "manifest unknown: manifest unknown", "no_such_image", "tag"),
    ],
    ids=["capabilities", "memlock", "gpus", "unknown", "disk", "login", "authority", "tag"],
)
def test_what_is_known_of_a_refusal_is_reported(step, said, code, todo):
    trouble = refused(step, said)
    assert (trouble.failure["code"], trouble.failure["subject"]) == (code, "job-01")
    assert todo in trouble.message


def test_only_the_last_lines_are_reported():
    trouble = refused("start", "\n".join(f"line {number}" for number in range(9)))
    assert "line 8" in trouble.message
    assert "line 2" not in trouble.message


GONE = {"running": False, "gone": True, "exit_status": None, "out_of_memory": False}


@pytest.mark.parametrize(
    "lines, expected",
    [
        ("", GONE),
        ("state gone", GONE),
        ("state true 0 false", {"running": True, "gone": False, "exit_status": 0, "out_of_memory": False}),
        ("state false 137 true", {"running": False, "gone": False, "exit_status": 137, "out_of_memory": True}),
        ("state false -1 false", {"running": False, "gone": False, "exit_status": -1, "out_of_memory": False}),
        ("state false ? false", {"running": False, "gone": False, "exit_status": None, "out_of_memory": False}),
        ("state false x", GONE),
        ("status 3\nsize 12\nroom 7", {**GONE, "status": 3, "size": 12, "room": 7}),
        ("status ?\nsize \nroom -", {**GONE, "status": None, "size": 0, "room": None}),
        ("said  no space \nready yes\noutput aGk=", {**GONE, "said": "no space", "ready": True, "output": b"hi"}),
        ("ready no", {**GONE, "said": "", "ready": False, "output": b""}),
    ],
)
def test_the_answer_of_a_guest_is_read(lines, expected):
    answer = training_steps._answer(lines)
    assert {key: getattr(answer, key) for key in expected} == expected


@pytest.mark.parametrize(
    "state, running, gone, status",
    [
        ("state true 0 false", True, False, 0),
        ("state false -1 true", False, False, -1),
        ("state false 137 true", False, False, 137),
        ("state false unknown false", False, False, None),
        ("state gone 0", False, True, None),
        ("", False, True, None),
    ],
)
def test_the_state_of_a_container_is_read_whole_or_not_at_all(state, running, gone, status):
    done = Completed(("sh",), 0, state + "\n", "")
    guest = SimpleNamespace(name="job-01", script=lambda *_how, **_more: done)
    answer = Steps(REQUEST, "run").ask(guest, 1, 0, 100)
    assert (answer.running, answer.gone, answer.exit_status) == (running, gone, status)


class Heard:
    """A guest that says the same to every command, and remembers what it was asked."""

    name = "job-01"

    def __init__(self, stdout="", status=0, said=""):
        self.answer, self.asked = (status, stdout, said), []

    def run(self, argv):
        self.asked.append(("run", *argv))
        return Completed(tuple(argv), *self.answer)

    def script(self, text, *words, data=None):
        self.asked.append((NAMES[text], *words, *([data] if data is not None else [])))
        return Completed(("/bin/sh",), *self.answer)


NAMES = {getattr(scripts, name): name for name in ("LOOK", "COUNTERS", "DELIVER", "POLL", "STOP")}
IN = "/run/aiready-training"
CONTAINER = "aiready-training-run-1"


@pytest.mark.parametrize(
    "call, asked",
    [
        (lambda steps, guest: steps.look(guest), ("LOOK", "docker", REQUEST.image, IN, "2222")),
        (lambda steps, guest: steps.pull(guest), ("run", "docker", "pull", REQUEST.image)),
        (lambda steps, guest: steps.counters(guest), ("COUNTERS",)),
        (
            lambda steps, guest: steps.build(guest),
            ("run", "docker", "exec", CONTAINER, "/bin/sh", "/aiready/check"),
        ),
        (
            lambda steps, guest: steps.launch(guest),
            ("run", "docker", "exec", "--detach", CONTAINER, "/bin/sh", "/aiready/start"),
        ),
        (
            lambda steps, guest: steps.ask(guest, 7, 100, 4096),
            ("POLL", "docker", CONTAINER, f"{IN}/run-1", 7, 100, 4096),
        ),
        (lambda steps, guest: steps.stop(guest), ("STOP", "docker", IN, "run-1")),
        (lambda steps, guest: steps.stop(guest, "run-0"), ("STOP", "docker", IN, "run-0")),
    ],
    ids=["look", "pull", "counters", "build", "launch", "ask", "stop", "stop another"],
)
def test_what_each_step_runs_on_a_guest(call, asked):
    guest = Heard()
    call(Steps(REQUEST, "run-1"), guest)
    assert guest.asked == [asked]


def test_files_are_delivered_before_the_container_starts():
    guest = Heard()
    Steps(REQUEST, "run-1").start(guest, ["docker", "run", "x"], {"in/beat": (0o644, "0\n")})
    (name, folder, data), command = guest.asked
    assert (name, folder, command) == ("DELIVER", f"{IN}/run-1", ("run", "docker", "run", "x"))
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert [(entry.name, entry.isdir(), entry.mode, entry.size) for entry in tar] == [
            ("in", True, 0o755, 0),
            ("in/beat", False, 0o644, 2),
        ]


@pytest.mark.parametrize(
    "call, code, wanted",
    [
        (lambda steps, guest: steps.look(guest), "not_looked_at", "cannot be read"),
        (lambda steps, guest: steps.pull(guest), "pull_failed", f"cannot pull the image {REQUEST.image}"),
        (
            lambda steps, guest: steps.start(guest, [], {}),
            "not_delivered",
            f"cannot copy the files of the run to {IN}/run-1",
        ),
        (lambda steps, guest: steps.launch(guest), "not_launched", "cannot start the launcher in the container"),
    ],
    ids=["look", "pull", "start", "launch"],
)
def test_a_step_that_fails_says_which_one_it_was(call, code, wanted):
    with pytest.raises(OperatorError) as failed:
        call(Steps(REQUEST, "run-1"), Heard(status=3, said="one\n\ntwo"))
    assert (failed.value.code, failed.value.subject) == (code, "job-01")
    assert wanted in failed.value.wanted
    assert failed.value.found.endswith(" ended with 3: one / two")


@pytest.mark.parametrize(
    "status, stdout, said, expected",
    [
        (1, "", "a\nb\nc\nd\ne", (None, "b / c / d / e")),
        (1, "", "", (None, "nothing")),
        (124, "", "slow", (None, "")),
        (137, "", "slow", (None, "")),
        (136, "", "other", (None, "other")),
    ],
)
def test_what_horovod_says_where_it_cannot_report_its_build(status, stdout, said, expected):
    assert Steps(REQUEST, "run-1").build(Heard(stdout, status, said)) == expected


@pytest.mark.parametrize(
    "stdout, left", [("left 2", 2), ("left 0\n", 0), ("left x", 0), ("right 2", 0), ("left 2 3", 0), ("", 0)]
)
def test_how_many_containers_are_left(stdout, left):
    assert Steps(REQUEST, "run-1").stop(Heard(stdout)) == left
