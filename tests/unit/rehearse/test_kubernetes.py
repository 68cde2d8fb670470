"""The traffic class of the site in the definitions of jobs."""

from __future__ import annotations

import pytest

from rehearse import kubernetes


@pytest.mark.parametrize(
    "env, command, lacking",
    [
        ({"NCCL_IB_TC": "106", "UCX_IB_TRAFFIC_CLASS": "106"}, [], []),
        ({}, ["-x", "NCCL_IB_TC=106", "-x", "UCX_IB_TRAFFIC_CLASS=106"], []),
        ({"NCCL_IB_TC": "0", "UCX_IB_TRAFFIC_CLASS": "106"}, ["--port", "106"], ["NCCL_IB_TC=106"]),
        ({"OTHER": "106"}, ["NCCL_IB_TC=1066"], ["NCCL_IB_TC=106", "UCX_IB_TRAFFIC_CLASS=106"]),
    ],
)
def test_the_traffic_class_is_that_of_its_own_variables(env, command, lacking):
    rows = [{"name": name, "value": value} for name, value in env.items()]
    spec = {"template": {"spec": {"containers": [{"name": "node", "env": rows, "command": command}]}}}
    assert kubernetes.without_class(spec) == lacking
