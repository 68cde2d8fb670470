"""A simulated cluster with GPU nodes and installed operators, as its owner hands it over.

`python -m wire.kubernetes_lab FOLDER` serves one until it ends. The molecule scenario of the role kubernetes uses it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from house.collection import ROOT
from vsphere_twin.kubernetes import kinds
from vsphere_twin.kubernetes.launch import launch_cluster

NAMESPACE = "gpu-operator"
# The driver in the values of the Helm release, which the site repeats.
DRIVER = {"repository": "images.example.org/nvidia", "image": "vgpu-guest-driver", "version": "550.54.15"}
BRANCH = "550"
STEP_S = 0.1
CHART = {"repository": "nvcr.io/nvidia", "version": "v26.7.0"}
OPERANDS = {
    "toolkit": "container-toolkit",
    "devicePlugin": "k8s-device-plugin",
    "gfd": "k8s-device-plugin",
    "dcgmExporter": "dcgm-exporter",
    "validator": "gpu-operator",
}


def policy(driver: dict[str, str] | None) -> dict[str, Any]:
    """The ClusterPolicy of the Helm chart; without a driver, the nodes have driver and toolkit already."""
    blocks: dict[str, Any] = {name: {**CHART, "image": image} for name, image in OPERANDS.items()}
    blocks["driver"] = {"enabled": bool(driver), **(driver or {})}
    blocks["toolkit"]["enabled"] = bool(driver)
    for name in ("daemonsets", "nodeStatusExporter", "operator"):
        blocks[name] = {}
    # The chart disables it, and the exporter starts a host engine of its own.
    blocks["dcgm"] = {**CHART, "image": "dcgm", "enabled": False}
    return {"metadata": {"name": "cluster-policy"}, "spec": blocks}


def runtime() -> dict[str, Any]:
    """The ClusterTrainingRuntime of Kubeflow Trainer for torchrun."""
    container = {"name": "node", "image": "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"}
    template = {"spec": {"template": {"spec": {"containers": [container]}}}}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    job = {"name": "node", "template": {"metadata": {"labels": labels}, **template}}
    spec = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}}
    return {"metadata": {"name": "torch-distributed"}, "spec": spec}


def furnish(server: Any, driver: dict[str, str] | None = DRIVER) -> None:
    """Create the kinds and the objects of the installed operators."""
    cluster = server.cluster
    for name, definition in kinds.definitions().items():
        if cluster.get("customresourcedefinitions", name) is None:
            cluster.create("customresourcedefinitions", definition, manager="helm")
    for name in (NAMESPACE, "nvidia-network-operator"):
        cluster.create("namespaces", {"metadata": {"name": name}})
    cluster.create("clusterpolicies", policy(driver), manager="helm")
    cluster.create("clustertrainingruntimes", runtime())
    # Without a pod runtime, trainings end at once.
    server.world.programs.update(dict.fromkeys(("launcher", "node"), _ends))


def _ends(_pod: Any, _container: Any) -> tuple[int, str]:
    return 0, "done\n"


def restrict(server: Any) -> None:
    """Give the kubeconfig to a user who has only the rights that docs/kubernetes.md grants with its commands."""
    cluster = server.cluster
    page = (ROOT / "docs" / "kubernetes.md").read_text()
    (block,) = re.findall(r"```yaml\n(apiVersion: rbac.*?)```", page, re.S)
    commands = re.findall(
        r"kubectl create (\w+binding) \S+ --clusterrole=(\S+) --user=(\w+)(?: --namespace=(\S+))?", page
    )
    (user,) = {one[2] for one in commands}
    (pods,) = re.findall(r"kubectl create namespace (\S+)", page)
    group = "rbac.authorization.k8s.io"
    with cluster.lock:
        cluster.create("namespaces", {"metadata": {"name": pods}})
        for role in yaml.safe_load_all(block):
            cluster.create("clusterroles", role)
        for kind, role, _user, namespace in commands:
            subject = {"kind": "User", "apiGroup": group, "name": user}
            reference = {"apiGroup": group, "kind": "ClusterRole", "name": role}
            body = {"metadata": {"name": role}, "roleRef": reference, "subjects": [subject]}
            cluster.create(f"{kind}s", body, namespace)
    server.user(user, "not-the-administrator")
    server.kubeconfig_file.write_text(server.kubeconfig("not-the-administrator"))


@contextlib.contextmanager
def working(server: Any) -> Iterator[None]:
    """Meanwhile the operators work also between requests."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(STEP_S):
            with server.cluster.lock:
                server.world.tick()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def launch(directory: Path | None = None, nodes: int = 2, **hardware: Any) -> Iterator[Any]:
    """An API server with `nodes` GPU nodes; its operators are in the attribute `world`."""
    with launch_cluster(directory) as server:
        with server.cluster.lock:
            furnish(server)
            for number in range(1, nodes + 1):
                server.world.add_node(f"train-0{number}", **{"vgpu": True, "host_branch": BRANCH, **hardware})
            server.world.settle()
        yield server


def main() -> None:
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_ignored: sys.exit(0))
    with launch(folder) as server, working(server):
        (folder / "endpoint.json").write_text(json.dumps({"pid": os.getpid()}))
        signal.pause()


if __name__ == "__main__":
    main()
