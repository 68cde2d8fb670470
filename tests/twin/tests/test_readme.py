"""What the README shows works as it stands there."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import vsphere_twin
from vsphere_twin import __main__ as command

TEXT = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    """The blocks of a language, by the name of the file in their first line where there is one."""
    found = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return {(re.match(r"# (\S+\.\w+)\n", one) or ["", number])[1]: one for number, one in enumerate(found)}


def test_the_tests_pass(tmp_path):
    files = blocks("python")
    assert sorted(files) == ["conftest.py", "test_cluster.py", "test_faults.py", "test_my_tool.py", "test_seeds.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "test_shared.py").write_text("def test_one(data_centre):\n    assert data_centre.switch_endpoints\n")
    installed = [one for one in importlib.metadata.entry_points(group="pytest11") if one.name == "vsphere_twin"]
    plugin = [] if installed else ["-p", "vsphere_twin.pytest_plugin"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", *plugin],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(vsphere_twin.__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "7 passed" in ran.stdout


def test_the_seed_can_be_served_and_its_mistakes_are_said_as_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (text,) = blocks("yaml").values()
    Path("lab.yml").write_text(text, encoding="utf-8")
    assert command.main(["check", "lab.yml"]) == 0
    Path("lab.yml").write_text(text.replace("drs: manual", "drs: manuel").replace("a100_pcie_40gb", "a100"))
    assert command.main(["check", "lab.yml"]) == 1
    said = capsys.readouterr().err.splitlines()
    (shown,) = blocks("text").values()
    for line, printed in zip(shown.splitlines(), said, strict=True):
        assert printed.startswith(line.removesuffix(" ..."))


def test_the_commands_exist():
    lines = [line for text in blocks("shell").values() for line in text.splitlines() if line.startswith("vsphere-twin")]
    lines += re.findall(r"`(vsphere-twin [^`]+)`", TEXT)
    assert len(lines) >= 4
    for line in lines:
        command._parser().parse_args(shlex.split(line, comments=True)[1:])


def test_every_block_has_a_language_that_is_tried():
    assert set(re.findall(r"^```(\w+)", TEXT, re.MULTILINE)) == {"python", "yaml", "shell", "text"}
