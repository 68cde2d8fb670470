"""The client in the guest does what it is answered: it prints, writes, removes, and ends with the status."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from twin_labs.guest_lab import kept_port, listens
from vsphere_twin.guests.programs import layout

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

        argv, environment = self._command(name, words, env)
        if not answers:
            return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, env=environment)
        self.socket.unlink(missing_ok=True)
        with socketserver.ThreadingUnixStreamServer(str(self.socket), Model) as server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
            try:
                return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, env=environment)
            finally:
                server.shutdown()

    def start(self, name):
        """The process of a program whose model is somebody else's."""
        argv, environment = self._command(name)
        return subprocess.Popen(argv, env=environment)

    def _command(self, name, words=(), env=()):
        program = self.root / "usr/bin" / name
        if not program.is_symlink():
            program.symlink_to(ASK)
        where = {"LAB_SOCKET": str(self.socket), "LAB_ROOT": str(self.root), "LAB_STATE": str(self.root / "run/lab")}
        environment = {**os.environ, **where, "LAB_HOME": str(self.root / "usr/lib/lab"), **dict(env)}
        return [sys.executable, str(program), *words], environment


def test_it_prints_and_ends_as_requested(lab):
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


def test_it_reports_settings_and_only_the_variables_of_containers(lab):
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


def test_head_is_printed_before_the_wait_and_the_rest_after_it(lab):
    done = lab.run("ib_write_bw", answers=[{"head": "head\n", "delay_s": 0.01, "stdout": "row\n"}])
    assert done.stdout == "head\nrow\n"


def test_two_programs_meet_over_the_network_and_report_the_model_what_they_heard(tmp_path):
    labs, shown = [], {}
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(kept_port())
        for name in ("server", "client"):
            short = stack.enter_context(tempfile.TemporaryDirectory())
            (tmp_path / name).mkdir()
            labs.append(Lab(tmp_path / name, Path(short) / "s"))
        server, client = labs
        listening = {"meet": {"listen": port, "say": "I serve"}, "again": "1", "stdout": "waiting\n"}
        more = {"meet": {"say": "done"}, "again": "2"}
        threads = [
            threading.Thread(target=lambda: shown.update(server=server.run("rping", answers=[listening, more, {}])))
        ]
        threads[0].start()
        listens(port)
        calling = {"meet": {"connect": ["127.0.0.1", port], "say": "I call"}, "again": "1"}
        shown["client"] = client.run("rping", answers=[calling, more, {"status": 3}])
        threads[0].join()
    assert [one.asked[1]["met"] for one in labs] == [
        {"said": "I call", "peer": "127.0.0.1"},
        {"said": "I serve", "peer": "127.0.0.1"},
    ]
    assert [one.asked[2]["met"]["said"] for one in labs] == ["done", "done"]
    assert [one.asked[2]["again"] for one in labs] == ["2", "2"]
    assert (shown["server"].stdout, shown["client"].returncode) == ("waiting\n", 3)


def test_nobody_listens(lab):
    with kept_port() as port:
        lab.run("ib_write_bw", answers=[{"meet": {"connect": ["127.0.0.1", port]}, "again": "1"}, {}])
    assert lab.asked[1]["met"] == {"problem": "refused", "text": "Connection refused", "peer": "127.0.0.1"}


def test_somebody_who_goes_without_a_word_is_reported_as_gone(lab):
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        thread = threading.Thread(target=_turn_away, args=[door])
        thread.start()
        lab.run("ib_write_bw", answers=[{"meet": {"connect": ["127.0.0.1", port]}, "again": "1"}, {}])
        thread.join()
    assert lab.asked[1]["met"]["problem"] == "gone"


@pytest.mark.parametrize("words, asked", [(("-i", "ens224"), 0), (("-S", "ens224"), 1)], ids=str)
def test_what_the_model_does_not_answer_the_real_program_does(lab, words, asked):
    real = lab.root / "usr/lib/lab/real/ethtool"
    real.parent.mkdir(parents=True)
    real.write_text('#!/bin/sh\necho "the real one, $*"\n')
    real.chmod(0o755)
    assert lab.run("ethtool", *words, answers=[{"pass_on": True}]).stdout == f"the real one, {' '.join(words)}\n"
    assert len(lab.asked) == asked


def test_refreshing_keeps_a_program_that_the_model_answers_in_part(lab):
    for name in ("usr/sbin/ethtool", "usr/bin/ib_write_bw"):
        (lab.root / name).parent.mkdir(parents=True, exist_ok=True)
        (lab.root / name).write_text("real\n")
    lab.run("refresh")
    links = [lab.root / name for name in ("usr/sbin/ethtool", "usr/bin/ib_write_bw")]
    assert all(one.is_symlink() for one in links)
    assert [path.name for path in (lab.root / "usr/lib/lab/real").iterdir()] == ["ethtool"]
    lab.run("refresh")
    assert (lab.root / "usr/lib/lab/real/ethtool").read_text() == "real\n"


def test_a_file_of_ones_own_is_read_by_nobody_else(lab):
    lab.run("ib_write_bw", answers=[{"files": {"/result.json": {"own": "{}"}}}])
    path = lab.root / "result.json"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("{}", 0o600)


def test_of_the_environment_only_ranks_and_their_ways_are_reported(lab):
    env = {"NCCL_IB_HCA": "=mlx5_0", "OMPI_COMM_WORLD_RANK": "1", "PMIX_NAMESPACE": "1@1", "NGC_API_KEY": "secret"}
    lab.run("all_reduce_perf", answers=[{}], env=env)
    assert lab.asked[0]["env"] == {name: value for name, value in env.items() if name != "NGC_API_KEY"}


@pytest.mark.parametrize(
    "second, patience_s, order", [("rmmod", 1, ["modprobe", "rmmod"]), ("lsmod", 60, ["lsmod", "modprobe"])]
)
def test_who_changes_modules_asks_after_whoever_is_at_it(lab, second, patience_s, order):
    """The first one's answer waits for the second one's question, which comes only where the second changes nothing."""
    (lab.root / "run/lab").mkdir(parents=True)
    first_asks, second_asks, answered = threading.Event(), threading.Event(), []

    class Model(socketserver.StreamRequestHandler):
        def handle(self):
            name = json.loads(self.rfile.readline())["argv"][0]
            if name == "modprobe":
                first_asks.set()
                second_asks.wait(patience_s)
            else:
                second_asks.set()
            answered.append(name)
            self.wfile.write(json.dumps({"files": {"/run/lab/loaded": f"{name}\n"}}).encode() + b"\n")

    with socketserver.ThreadingUnixStreamServer(str(lab.socket), Model) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        first = lab.start("modprobe")
        assert first_asks.wait(60)
        assert (lab.start(second).wait(60), first.wait(60)) == (0, 0)
        server.shutdown()
    assert answered == order


def _turn_away(door):
    door.accept()[0].close()
