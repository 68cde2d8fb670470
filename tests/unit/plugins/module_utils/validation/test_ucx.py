"""MPI over UCX: the log shows the transport, and a run that fell back to TCP fails."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import osu, ucx

from .world import World, row_of

# The forms of UCX since 1.13 and before, as in public reports of runs.
LINE = "[1701292112.829711] [job-01:162239:0]      ucp_worker.c:1855 UCX  INFO    "
SELF = f"{LINE}0x100b240 self cfg#0 tag(self/memory0 rc_mlx5/mlx5_0:1)"
INTRA = f"{LINE}ucp_context_0 intra-node cfg#1 tag(sysv/memory cma/memory)"
INTER = f"{LINE}ucp_context_0 inter-node cfg#2 tag(rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_0:1)"
OLD = f"{LINE}ep_cfg[4]: tag(sysv/memory tcp/ens224 tcp/docker0)"
TABLE = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0 1.61\n8 1.70\n"


@pytest.mark.parametrize(
    "lines, expected",
    [
        ([SELF, INTRA, INTER], ["rc_mlx5/mlx5_0:1"]),
        ([f"[1,0]<stdout>:{INTER}", f"[1,1]<stdout>:{INTER}"], ["rc_mlx5/mlx5_0:1"]),
        ([f"{LINE}perftest inter-node cfg#0 tag(rc_verbs/irdma0:1)"], ["rc_verbs/irdma0:1"]),
        ([OLD], ["tcp/ens224", "tcp/docker0"]),
        ([SELF, INTRA], []),
        (["UCX_TLS=rc,self,sm", "tag(tcp/eth0)"], []),
        ([], []),
    ],
)
def test_transports_between_guests(lines, expected):
    assert ucx.transports("\n".join(lines)) == expected


def test_the_log_does_not_disturb_the_figures():
    assert osu.parse(f"{INTER}\n{TABLE}{INTER}\n")["why"] == ""


@pytest.mark.parametrize(
    "transports, verdict, why",
    [
        (["rc_mlx5/mlx5_0:1"], "pass", "UCX used rc_mlx5/mlx5_0:1."),
        (["dc_mlx5/mlx5_0:1", "ud_verbs/mlx5_0:1"], "pass", "UCX used dc_mlx5/mlx5_0:1, ud_verbs/mlx5_0:1."),
        (["rc_mlx5/mlx5_0:1", "tcp/ens224"], "fail", "UCX connected the guests over tcp/ens224 instead of RDMA."),
        ([], "fail", "The log has no connection of UCX between the guests, so MPI did not use UCX."),
    ],
)
def test_the_row_of_mpi_requires_rdma(transports, verdict, why):
    lab = World(2, "sriov", osu=["latency"], stack={"ucx": True})
    for pair in (("job-01", "job-02"), ("job-02", "job-01")):
        lab.add("pair.mpi_lat", pair, usec=1.7, bytes=8, test="Latency", ucx=transports, verdict={"state": "passed"})
    row = row_of(lab.judged(), "pair.mpi_lat job-01 > job-02")
    assert row["verdict"] == verdict
    assert why in row["why"]
