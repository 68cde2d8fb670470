"""The container toolkit of the lab changes settings of engines, and containers, as the real one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib

import pytest

from vsphere_twin.guests.programs import layout

TOOLKIT = layout.FOLDER / "toolkit"
GPU = "GPU-11111111-2222-3333-4444-555555555555"
NVIDIA = {"args": [], "path": "nvidia-container-runtime"}
RUNC = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n'
RUNC += '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\nSystemdCgroup = true\n'


@pytest.fixture
def tool(tmp_path):
    """run(program, *words, version, smi=(status, text)) with paths below tmp_path."""

    def run(program, *words, version="1.20.0", smi=(0, f"GPU 0: GRID A100-40C (UUID: {GPU})\n")):
        facts = tmp_path / "lab/installed/nvidia-container-toolkit.json"
        facts.parent.mkdir(parents=True, exist_ok=True)
        facts.write_text(json.dumps({"version": version}))
        fake = tmp_path / "nvidia-smi"
        fake.write_text(f"#!/bin/sh\nprintf '%s' '{smi[1]}'\nexit {smi[0]}\n")
        fake.chmod(0o755)
        environment = {**os.environ, "LAB_HOME": str(tmp_path / "lab"), "LAB_NVIDIA_SMI": str(fake)}
        argv = [sys.executable, str(TOOLKIT / program), *map(str, words)]
        return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)

    return run


@pytest.mark.parametrize(
    "before, words, after",
    [
        (None, [], {"runtimes": {"nvidia": NVIDIA}}),
        ("", [], {"runtimes": {"nvidia": NVIDIA}}),
        (
            {"mtu": 1400},
            ["--set-as-default"],
            {"mtu": 1400, "default-runtime": "nvidia", "runtimes": {"nvidia": NVIDIA}},
        ),
        ({"runtimes": {"kata": {}}}, [], {"runtimes": {"kata": {}, "nvidia": NVIDIA}}),
        ({"features": {"a": True}}, ["--cdi.enabled"], {"features": {"cdi": True}, "runtimes": {"nvidia": NVIDIA}}),
    ],
    ids=["no file", "empty", "default", "others stay", "features are replaced"],
)
def test_docker(tool, tmp_path, before, words, after):
    path = tmp_path / "docker/daemon.json"
    if before is not None:
        path.parent.mkdir()
        path.write_text(before and json.dumps(before))
    done = tool("nvidia-ctk", "runtime", "configure", "--runtime=docker", f"--config={path}", *words)
    assert done.returncode == 0
    assert json.loads(path.read_text()) == after
    assert f"Wrote updated config to {path}" in done.stderr
    assert done.stdout == ""


def test_a_dry_run_prints_and_writes_nothing(tool, tmp_path):
    path = tmp_path / "daemon.json"
    done = tool("nvidia-ctk", "runtime", "configure", "--runtime", "docker", "--config", path, "--dry-run")
    assert json.loads(done.stdout) == {"runtimes": {"nvidia": NVIDIA}}
    assert not path.exists()


def test_a_file_that_is_no_json_stays_as_it_is(tool, tmp_path):
    path = tmp_path / "daemon.json"
    path.write_text("{nonsense")
    done = tool("nvidia-ctk", "runtime", "configure", f"--config={path}")
    assert done.returncode == 1
    assert "unable to load config" in done.stderr
    assert path.read_text() == "{nonsense"


def test_containerd_since_1_18_has_a_file_of_its_own(tool, tmp_path):
    path, drop_in = tmp_path / "config.toml", tmp_path / "conf.d/99-nvidia.toml"
    path.write_text(f"version = 2\n{RUNC}")
    words = ["runtime", "configure", "--runtime=containerd", f"--config={path}", f"--drop-in-config={drop_in}"]
    assert tool("nvidia-ctk", *words).returncode == 0
    first = path.read_text(), drop_in.read_text()
    entry = tomllib.loads(first[1])["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]["nvidia"]
    assert entry["options"] == {"BinaryName": "/usr/bin/nvidia-container-runtime", "SystemdCgroup": True}
    assert tomllib.loads(first[0])["imports"] == [f"{tmp_path}/conf.d/*.toml"]
    assert "nvidia" not in tomllib.loads(first[0])["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]
    assert tool("nvidia-ctk", *words).returncode == 0
    assert (path.read_text(), drop_in.read_text()) == first


def test_containerd_before_1_18_writes_into_the_main_file(tool, tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(f"version = 2\n{RUNC}")
    words = ["runtime", "configure", "--runtime=containerd", f"--config={path}"]
    refused = tool("nvidia-ctk", *words, f"--drop-in-config={tmp_path}/x", version="1.17.8")
    assert "flag provided but not defined: -drop-in-config" in refused.stderr
    assert tool("nvidia-ctk", *words, version="1.17.8").returncode == 0
    assert set(tomllib.loads(path.read_text())["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]) == {
        "nvidia",
        "runc",
    }


def test_podman_is_no_runtime_that_can_be_configured(tool):
    assert "unrecognized runtime 'podman'" in tool("nvidia-ctk", "runtime", "configure", "--runtime=podman").stderr


def test_the_cdi_specification_names_every_device(tool, tmp_path):
    part = "  MIG 3g.20gb     Device  0: (UUID: MIG-aaaaaaaa-2222-3333-4444-555555555555)\n"
    path = tmp_path / "cdi/nvidia.yaml"
    smi = (0, f"GPU 0: GRID A100-3-20C (UUID: {GPU})\n{part}")
    assert tool("nvidia-ctk", "cdi", "generate", f"--output={path}", smi=smi).returncode == 0
    spec = json.loads(path.read_text())
    assert spec["kind"] == "nvidia.com/gpu"
    assert [one["name"] for one in spec["devices"]] == [
        "0",
        GPU,
        "MIG-aaaaaaaa-2222-3333-4444-555555555555",
        "0:0",
        "all",
    ]
    refused = tool("nvidia-ctk", "cdi", "generate", smi=(9, ""))
    assert refused.returncode == 1
    assert "driver not loaded" in refused.stderr


@pytest.mark.parametrize(
    "value, smi, says, mounted",
    [
        (None, (0, ""), "", False),
        ("void", (9, ""), "", False),
        ("all", (0, f"GPU 0: x (UUID: {GPU})\n"), "", True),
        (GPU, (0, f"GPU 0: x (UUID: {GPU})\n"), "", True),
        ("3", (0, f"GPU 0: x (UUID: {GPU})\n"), "device error: 3: unknown device", False),
        ("all", (9, ""), "nvml error: driver not loaded", False),
        ("all", (6, ""), "no devices found", False),
    ],
    ids=["not asked", "void", "all", "by UUID", "unknown", "no driver", "no device"],
)
def test_the_runtime_gives_a_container_what_it_asks_for(tool, tmp_path, value, smi, says, mounted):
    bundle, log = tmp_path / "bundle", tmp_path / "log.json"
    bundle.mkdir()
    rows = [f"NVIDIA_VISIBLE_DEVICES={value}"] if value else []
    (bundle / "config.json").write_text(json.dumps({"process": {"env": ["PATH=/bin", *rows]}, "mounts": []}))
    (tmp_path / "lab/toolkit").mkdir(parents=True)
    done = tool("nvidia-container-runtime", "--log", log, "create", "--bundle", bundle, "x", smi=smi)
    if says:
        assert says in json.loads(log.read_text().splitlines()[0])["msg"]
        assert done.returncode == 1
    spec = json.loads((bundle / "config.json").read_text())
    assert bool(spec["mounts"]) is mounted
