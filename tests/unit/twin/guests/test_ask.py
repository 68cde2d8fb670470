"""The client in the guest does what it is answered: it prints, writes, removes, and ends with the status."""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from twin.guests.programs import layout

ASK = layout.FOLDER / "ask"


@pytest.fixture
def lab(tmp_path):
    """run(name, *words, answers=[...]) of a program whose model answers these."""
    with tempfile.TemporaryDirectory() as short:  # the path of a socket is never long
        yield Lab(tmp_path, Path(short) / "s")


class Lab:
    def __init__(self, root, socket):
        self.root, self.socket, self.asked = root, socket, []
        (root / "etc/modprobe.d").mkdir(parents=True)
        (root / "usr/bin").mkdir(parents=True)

    def run(self, name, *words, answers=(), stdin="", env=()):
        answers, asked = list(answers), self.asked

        class Model(socketserver.StreamRequestHandler):
            def handle(self):
                asked.append(json.loads(self.rfile.readline()))
                self.wfile.write(json.dumps(answers.pop(0)).encode() + b"\n")

        program = self.root / "usr/bin" / name
        if not program.is_symlink():
            program.symlink_to(ASK)
        where = {"LAB_SOCKET": str(self.socket), "LAB_ROOT": str(self.root), "LAB_STATE": str(self.root / "run/lab")}
        environment = {**os.environ, **where, "LAB_HOME": str(self.root / "usr/lib/lab"), **dict(env)}
        argv = [sys.executable, str(program), *words]
        if not answers:
            return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, env=environment)
        self.socket.unlink(missing_ok=True)
        with socketserver.ThreadingUnixStreamServer(str(self.socket), Model) as server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
            try:
                return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, env=environment)
            finally:
                server.shutdown()


def test_it_prints_and_ends_as_it_is_told(lab):
    done = lab.run("nvidia-smi", "-L", answers=[{"stdout": "GPU 0\n", "stderr": "but\n", "status": 6}])
    assert (done.stdout, done.stderr, done.returncode) == ("GPU 0\n", "but\n", 6)
    assert lab.asked[0]["argv"] == ["nvidia-smi", "-L"]


def test_files_links_and_trees_are_made_and_removed(lab):
    (lab.root / "sys/class/infiniband/old/ports").mkdir(parents=True)
    (lab.root / "sys/class/infiniband/old/ports/x").write_text("1")
    (lab.root / "sys/class/gone").mkdir()
    (lab.root / "tos").write_text("104\n")
    files = {"/sys/a": "text\n", "/sys/class/gone": None, "/tos": {"initial": "0\n"}, "/link": {"link": "/sys/a"}}
    trees = {"/sys/class/infiniband": {"new/ports/1/state": "4: ACTIVE\n"}}
    assert lab.run("modprobe", "x", answers=[{"files": files, "trees": trees}]).returncode == 0
    assert (lab.root / "sys/a").read_text() == "text\n"
    assert not (lab.root / "sys/class/gone").exists()
    assert (lab.root / "tos").read_text() == "104\n"
    assert os.readlink(lab.root / "link") == "/sys/a"
    top = lab.root / "sys/class/infiniband"
    found = [str(path.relative_to(top)) for path in sorted(top.rglob("*")) if path.is_file()]
    assert found == ["new/ports/1/state"]


def test_it_tells_settings_and_only_the_variables_of_containers(lab):
    (lab.root / "etc/modprobe.d/a.conf").write_text("# no\nblacklist nouveau\n")
    lab.run("lsmod", answers=[{}], env={"NVIDIA_VISIBLE_DEVICES": "0", "NGC_API_KEY": "canary"}.items())
    assert lab.asked[0]["guest"]["modprobe"] == ["blacklist nouveau"]
    assert lab.asked[0]["env"] == {"NVIDIA_VISIBLE_DEVICES": "0"}
    assert "canary" not in json.dumps(lab.asked)
    assert "tokens" not in lab.asked[0]["guest"]


def test_it_reads_an_answer_where_the_model_wants_one(lab):
    lines = [{"stdout": "(y/n) [n] : ", "wants_stdin": True}, {"stdout": "Done!\n"}]
    done = lab.run("mlxconfig", "set", answers=lines, stdin="y\n")
    assert done.stdout == "(y/n) [n] : Done!\n"
    assert [one["stdin"] for one in lab.asked] == ["", "y\n"]


def test_without_the_model_it_says_so_and_fails(lab):
    done = lab.run("nvidia-smi")
    assert done.returncode == 125
    assert done.stderr.startswith("nvidia-smi: the lab does not answer")


def test_programs_of_packages_are_replaced_and_nothing_else(lab):
    (lab.root / "usr/bin/ibv_devinfo").write_text("real")
    (lab.root / "usr/bin/ping").write_text("real")
    assert lab.run("refresh").returncode == 0
    assert os.readlink(lab.root / "usr/bin/ibv_devinfo") == str(lab.root / "usr/lib/lab/ask")
    assert (lab.root / "usr/bin/ping").read_text() == "real"
    assert not (lab.root / "usr/bin/mokutil").exists()
