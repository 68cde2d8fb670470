"""What an operator reads when vCenter cannot be reached, is not one, or does not let them in."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session

from twin_labs.guest_lab import kept_port
from vsphere_twin.vcenter.certificates import server_context

from .drive import Driver
from .drive import connection as connection_of
from .lab import lab
from .neighbours import Line, serving, web_server

SECRET = "not-the-right-word"


@dataclass(frozen=True)
class Trouble:
    """One thing that is wrong with the way to vCenter."""

    name: str
    code: str
    says: tuple
    # Changes the connection options, with whatever servers it needs in the stack: (twin, stack, directory) -> dict
    arrange: Callable
    # Whether it takes a second or more; then one of the two ways to meet it is enough.
    slow: bool = False

    def __str__(self):
        return self.name


def _other_authority(twin, stack, directory):
    _context, ca_file = server_context(directory)
    return {"ca_file": str(ca_file)}


def _other_server(**page):
    def arrange(twin, stack, directory):
        context, ca_file = server_context(directory)
        return {"port": stack.enter_context(serving(web_server(context, **page))), "ca_file": str(ca_file)}

    return arrange


# By then a busy machine has done whatever else is needed; `brisk` keeps the pauses between attempts short.
PATIENT = {"request_timeout_s": 60}


def _line(options, **trouble):
    def arrange(twin, stack, directory):
        line = Line(twin.port)
        for name, value in trouble.items():
            setattr(line, name, value)
        return {"port": stack.enter_context(serving(line)), **options}

    return arrange


def _always_503(twin, stack, directory):
    twin.control.unavailable(count=1000)
    return PATIENT


def _slow(twin, stack, directory):
    twin.control.latency(seconds=60)
    return {"request_timeout_s": 1}


def _no_certificates(twin, stack, directory):
    (directory / "empty.pem").touch()
    return {"ca_file": str(directory / "empty.pem")}


TROUBLES = [
    Trouble(
        "wrong password",
        "wrong_password",
        (
            "127.0.0.1:{port}: cannot log in as administrator@vsphere.local.",
            "vCenter answered InvalidLogin: Cannot complete login due to an incorrect user name or password.",
            "Check `username` (with its domain, such as name@vsphere.local) and `password`",
        ),
        lambda twin, stack, directory: {"password": SECRET},
    ),
    Trouble(
        "unknown user",
        "wrong_password",
        ("log in as administrator.", "vCenter answered InvalidLogin"),
        lambda twin, stack, directory: {"username": "administrator"},
    ),
    Trouble(
        "certificate of another authority",
        "certificate_untrusted",
        (
            "Its certificate is not trusted: ",
            "It shows subject CN=localhost, issuer CN=Certificate authority of the twin",
            "SHA-256 fingerprint ",
            "(https://127.0.0.1:{port}/certs/download.zip)",
            "Set `ca_file` to vCenter's root certificates",
        ),
        _other_authority,
    ),
    Trouble(
        "certificate for another name",
        "certificate_hostname",
        (
            "127.1:{port}: cannot connect to vCenter.",
            "certificate is not valid for '127.1'",
            "Use one of the names of the certificate (localhost, 127.0.0.1) as `hostname`",
        ),
        # Another spelling of the same address, which no certificate has.
        lambda twin, stack, directory: {"hostname": "127.1"},
    ),
    Trouble(
        "file without certificates",
        "ca_file",
        ("empty.pem has no usable trusted certificates", "Set `ca_file` to a file with certificates in PEM format"),
        _no_certificates,
    ),
    Trouble(
        "nobody listens",
        "vcenter_refused",
        ("127.0.0.1 refuses connections on port {port}.", "Check `hostname` and `port`"),
        lambda twin, stack, directory: {"port": stack.enter_context(kept_port())},
    ),
    Trouble(
        "name that does not exist",
        "vcenter_unresolvable",
        ("The name vcenter.invalid cannot be resolved", "and this machine's DNS"),
        lambda twin, stack, directory: {"hostname": "vcenter.invalid"},
    ),
    Trouble(
        "name that cannot exist",
        "vcenter_unresolvable",
        ("The name vcenter..example.com cannot be resolved", "label empty or too long"),
        lambda twin, stack, directory: {"hostname": "vcenter..example.com"},
    ),
    Trouble(
        "address of a web page",
        "vcenter_unresolvable",
        ("The name https://127.0.0.1 cannot be resolved", "a name or an address, without a scheme or a port"),
        lambda twin, stack, directory: {"hostname": "https://127.0.0.1"},
    ),
    Trouble(
        "port that speaks no TLS",
        "vcenter_tls",
        ("The TLS handshake failed", "Check `port`: it must speak HTTPS"),
        lambda twin, stack, directory: {"port": stack.enter_context(serving(web_server()))},
    ),
    Trouble(
        "web server without vSphere",
        "not_a_vcenter",
        ("There is no vSphere API at https://127.0.0.1:{port}/sdk: it answers with HTTP status 404",),
        _other_server(status=404),
    ),
    Trouble(
        "web server with a page for everything",
        "not_a_vcenter",
        ("There is no vSphere API at https://127.0.0.1:{port}/sdk: ", "is not XML", "Check `hostname` and `port`"),
        _other_server(status=200),
    ),
    Trouble(
        "connections that are reset",
        "vcenter_unreachable",
        ("The connection broke", "Check the network between this machine and vCenter"),
        _line(PATIENT, resets=1000),
        slow=True,
    ),
    Trouble(
        "silence",
        "vcenter_timeout",
        ("No answer came within 1 seconds.", "raise `request_timeout_s`"),
        _line({"request_timeout_s": 1}, silent=True),
        slow=True,
    ),
    Trouble(
        "answers that come too late",
        "vcenter_timeout",
        ("No answer came within 1 seconds.", "raise `request_timeout_s`"),
        _slow,
        slow=True,
    ),
    Trouble(
        "503 for good",
        "vcenter_unreachable",
        ("503", "whether its services are up"),
        _always_503,
        slow=True,
    ),
]


def through_a_module(connection):
    """What a task shows."""
    driver = Driver(connection)
    answer = driver("vgpu_profile", check=True, name="train-01", profiles=["grid_a100-40c"])
    assert answer["failed"]
    return answer["msg"], answer["failure"], json.dumps(answer)


def through_connect(connection):
    """What a program that uses the collection's own session sees."""
    with pytest.raises(OperatorError) as caught:
        session.connect({"validate_certs": True, "request_timeout_s": 120, **connection})
    return caught.value.message, caught.value.failure, str(caught.value)


@pytest.mark.parametrize(
    "trouble, way",
    [
        pytest.param(trouble, way, id=f"{trouble}, {way.__name__}")
        for trouble in TROUBLES
        for way in (through_a_module, through_connect)
        if way is through_a_module or not trouble.slow
    ],
)
@pytest.mark.usefixtures("brisk")
def test_the_message_says_what_is_wrong_and_what_to_do(twin, tmp_path, trouble, way):
    running = twin()
    own = tmp_path / "own"
    own.mkdir()
    with contextlib.ExitStack() as stack:
        connection = connection_of(running, tmp_path / "sessions")
        connection.update(trouble.arrange(running, stack, own))
        message, failure, everything = way(connection)
    assert failure["code"] == trouble.code, message
    for part in trouble.says:
        assert part.format(port=connection["port"]) in message
    assert connection["password"] not in everything
    assert _files_with(connection["password"], tmp_path / "sessions") == []


def _files_with(text, directory: Path):
    return [path.name for path in directory.rglob("*") if path.is_file() and text in path.read_text()]


@pytest.mark.parametrize(
    "requested, code, says",
    [
        (
            {"name": "train-1"},
            "vm_not_found",
            "VM train-1: cannot find the VM. There is none that this user may see; near it: train-01, train-02. "
            "Correct `name`, or check the user's permissions.",
        ),
        (
            {"path": "/lab/vm/train-01"},
            "vm_not_found",
            "There is none that this user may see; near it: /lab/vm/training/train-01",
        ),
        ({"moid": "vm-99999"}, "vm_not_found", "VM with MoID vm-99999: cannot find the VM. There is none"),
        ({"instance_uuid": "train-01"}, "uuid_malformed", "The value is not a UUID."),
        (
            {"name": "train-01", "datacenter": "lob"},
            "datacenter_not_found",
            "datacenter lob: cannot find the datacenter. vCenter has none of this name that this user may see; "
            "there are: lab. Correct `datacenter`",
        ),
    ],
    ids=["name", "path", "MoID", "no UUID", "datacenter"],
)
def test_what_does_not_exist_is_answered_with_what_does(twin, drive, requested, code, says):
    running = twin()
    answer = drive(running)("vgpu_profile", profiles=["grid_a100-40c"], **requested)
    assert says in answer["msg"]
    assert answer["failure"]["code"] == code
    assert not answer.get("changed")


def test_a_name_that_two_vms_have_is_answered_with_both_paths_and_a_path_decides(twin, drive):
    running = twin(
        seed=lab({"name": "train-01", "folder": "a"}, {"name": "train-01", "folder": "b"}, folders=["a", "b"])
    )
    module = drive(running)
    requested = {"profiles": ["grid_a100-40c"], "check": True}
    answer = module("vgpu_profile", name="train-01", **requested)
    assert answer["failure"]["code"] == "vm_ambiguous"
    assert answer["msg"] == (
        "VM train-01: the name is not unique. There are 2: /lab/vm/a/train-01, /lab/vm/b/train-01. "
        "Use `path`, `instance_uuid` or `moid` to select one of them."
    )
    (chosen,) = module("vgpu_profile", path="/lab/vm/b/train-01", **requested)["vms"]
    assert (chosen["path"], chosen["changed"]) == ("/lab/vm/b/train-01", True)
