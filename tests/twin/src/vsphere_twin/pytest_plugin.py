"""A vCenter for each test that requests it: the fixture `vsphere_twin`.

The marker `@pytest.mark.vsphere_twin(seed="large", faces=("ssh",), faults=[("latency", {"seconds": 1})])` selects it.
Without the marker the fixture uses the seed of the option `vsphere_twin_seed` in pytest's configuration, or `small`.
"""

from __future__ import annotations

import pytest

MARKER = "vsphere_twin"
OPTION = "vsphere_twin_seed"


def pytest_addoption(parser):
    """The seed of tests that name none."""
    parser.addini(OPTION, "seed of the fixture vsphere_twin: a name or a file", default="small")


def pytest_configure(config):
    """Make the marker known."""
    words = "the seed, the faces and the faults of the fixture vsphere_twin"
    config.addinivalue_line("markers", f"{MARKER}(seed='small', faces=(), faults=()): {words}")


@pytest.fixture
def vsphere_twin(request):
    """A vCenter in this process: host, port, username, password, ca_file, control, requests, world, endpoint()."""
    # Tests that do not ask for it do not pay for the import.
    from .launch import launch

    mark = request.node.get_closest_marker(MARKER)
    options = {"seed": request.config.getini(OPTION), **(mark.kwargs if mark else {})}
    with launch(**options) as twin:
        yield twin


@pytest.fixture
def kubernetes_cluster():
    """An API server of a Kubernetes cluster over HTTPS, without a vCenter.

    `url`, `kubeconfig_file` (a path) and `kubeconfig()` (a text) are for clients.
    `cluster` is the state for assertions, `world.add_node("gpu-1", gpus=1)` joins a node.
    `user(name, token)` adds a user without rights.
    The context manager `launch_cluster` of vsphere_twin.kubernetes.launch does the same.
    """
    from .kubernetes.launch import launch_cluster

    with launch_cluster() as server:
        yield server
