"""Start a cluster in this process, without a vCenter."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from ..vcenter.certificates import server_context
from .server import ApiServer


@contextlib.contextmanager
def launch_cluster(directory=None, **options):
    """An API server; options are those of ApiServer. Its kubeconfig is in the attribute `kubeconfig_file`."""
    with contextlib.ExitStack() as stack:
        folder = Path(directory or stack.enter_context(tempfile.TemporaryDirectory(prefix="twin-kubernetes-")))
        if not (folder / "ca.pem").exists():
            server_context(folder)
        server = ApiServer(folder, **options)
        server.start()
        stack.callback(server.stop)
        server.kubeconfig_file = folder / "kubeconfig"
        server.kubeconfig_file.touch(mode=0o600)
        server.kubeconfig_file.write_text(server.kubeconfig())
        yield server
