"""Each planted fault of a cluster is reported by its stage, with its cause. The requests go over the wire."""

from __future__ import annotations

import pytest

from . import kubernetes_faults, kubernetes_lab


def test_a_good_cluster_trains() -> None:
    with kubernetes_lab.launch() as server:
        assert kubernetes_faults.reported(kubernetes_faults.lab(server), lambda one: None, "read") == ("", [])


@pytest.mark.parametrize("name", kubernetes_faults.FAULTS)
def test_a_fault_is_named(name: str) -> None:
    fault = kubernetes_faults.FAULTS[name]
    with kubernetes_lab.launch() as server:
        stage, answer = kubernetes_faults.reported(kubernetes_faults.lab(server), fault.plant, fault.before)
    assert (stage, fault.cause in " ".join(answer)) == (fault.stage, True), answer
