"""Recorded texts of the pods that check a cluster, for a rehearsal without a container engine.

The operators and the kubelets of the simulated cluster run no program then. Their pods print what real programs print
when all is well, so a report from these texts proves only the path from the pods to the report.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.pairs import READY, SELF
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import END, RUN

from unit.plugins.module_utils.validation.pairs.ends import BANDWIDTH, LATENCY, TCP
from unit.plugins.plugin_utils.kubernetes import job_outputs

TEXTS = {"pair.iperf3": TCP, "pair.write_lat": LATENCY, "pair.write_bw": BANDWIDTH}
RATES = {"90.0": "98.0", "60.0": "93.0"}  # of two nodes, over RDMA and TCP
OWN = f"{SELF}address=192.168.50.20 device=mlx5_0 number=1 gid=3\n"


def _server(_pod: Any, _container: Any) -> tuple[int | None, str]:
    return None, f"{OWN}{READY}\n"


def _client(_pod: Any, container: Any) -> tuple[int | None, str]:
    checks = re.findall(rf"echo '{RUN}(\S+)'", container["command"][2])
    return 0, OWN + "".join(f"{RUN}{check}\n{TEXTS[check]}{END}0\n" for check in checks)


def _launcher(pod: Any, container: Any) -> tuple[int, str]:
    """The rates of a good network, which reach the thresholds of the check suite over both transports."""
    status, text = job_outputs.launcher(pod, container)
    for recorded, good in RATES.items():
        text = text.replace(f'"samples_per_s": {recorded}', f'"samples_per_s": {good}')
    return status, text


PROGRAMS = {"server": _server, "client": _client, "launcher": _launcher}
