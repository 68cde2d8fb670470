"""A simulated cluster with GPU nodes, whose operators report what a test requests.

`python -m wire.kubernetes_lab FOLDER` serves one until it ends. The molecule scenario of the role kubernetes uses it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.launch import launch_cluster
from vsphere_twin.kubernetes.operators import network
from vsphere_twin.kubernetes.operators.world import Hardware, World


def condition(kind: str, reason: str, message: str = "", status: str = "True") -> dict[str, str]:
    made = {"type": kind, "status": status, "reason": reason, "message": message}
    return {**made, "lastTransitionTime": "2026-01-01T00:00:00Z"}


READY = {"state": "ready", "conditions": [condition("Ready", "Reconciled")]}
NOT_READY = {
    "state": "notReady",
    "conditions": [condition("Ready", "OperandNotReady", "not ready: [state-driver]", "False")],
}
ENDS = {"mpijobs": "Succeeded", "trainjobs": "Complete"}


class Operators:
    """Sets the status of policies and jobs at once, as a test requests it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.policy = cluster, READY
        # The Network Operator is that of the twin; only its own controller runs.
        self.world = World(cluster, installed=())

    def tick(self) -> bool:
        before = self.cluster.revision
        network.step(self.world)
        changed = self.cluster.revision != before
        changed = self._set("clusterpolicies", self.policy) or changed
        for plural, kind in ENDS.items():
            changed = self._set(plural, {"conditions": [condition(kind, "Done")]}) or changed
        return changed

    def _set(self, plural: str, status: dict[str, Any]) -> bool:
        late = [
            one for one in self.cluster.list(plural) if one.get("status", {}).get("conditions") != status["conditions"]
        ]
        for one in late:
            self.cluster.set_status(plural, one, status)
        return bool(late)


@contextlib.contextmanager
def launch(directory: Path | None = None, nodes: int = 2) -> Iterator[Any]:
    """An API server with `nodes` GPU nodes; `operators` are in its attribute of this name."""
    cluster = Cluster()
    for name in ("gpu-operator", "nvidia-network-operator"):
        cluster.create("namespaces", {"metadata": {"name": name}})
    operators = Operators(cluster)
    for number in range(1, nodes + 1):
        labels = {"nvidia.com/gpu.present": "true"}
        labels.update({f"feature.node.kubernetes.io/pci-{vendor}.present": "true" for vendor in ("10de", "15b3")})
        operators.world.hardware[f"train-0{number}"] = Hardware()
        status = {"allocatable": {"nvidia.com/gpu": "1"}, "conditions": [{"type": "Ready", "status": "True"}]}
        cluster.create("nodes", {"metadata": {"name": f"train-0{number}", "labels": labels}, "status": status})
    with launch_cluster(directory, cluster=cluster, operators=operators) as server:
        yield server


def main() -> None:
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_ignored: sys.exit(0))
    with launch(folder):
        (folder / "endpoint.json").write_text(json.dumps({"pid": os.getpid()}))
        signal.pause()


if __name__ == "__main__":
    main()
