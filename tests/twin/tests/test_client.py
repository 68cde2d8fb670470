"""A client in another process than the twin: it logs in, lists, reconfigures and powers on."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from pyVim.connect import Disconnect, SmartConnect
from pyVim.task import WaitForTask
from pyVmomi import vim

import vsphere_twin

LIMIT_S = 300  # that only something broken reaches


@pytest.fixture
def endpoint(tmp_path):
    """Of the command `serve` with the seed small."""
    env = {**os.environ, "PYTHONPATH": str(Path(vsphere_twin.__file__).resolve().parents[1])}
    argv = [sys.executable, "-m", "vsphere_twin", "serve", "--seed", "small", "--port", "0", "--faces", "none"]
    with subprocess.Popen([*argv, "--state-dir", tmp_path], env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            yield json.loads((tmp_path / "endpoint.json").read_text())
            process.send_signal(signal.SIGINT)
            assert process.wait(LIMIT_S) == 0
        finally:
            process.kill()


def test_a_client_works_as_with_a_vcenter(endpoint):
    context = ssl.create_default_context(cafile=endpoint["ca_file"])
    client = SmartConnect(
        host=endpoint["host"],
        port=endpoint["port"],
        user=endpoint["username"],
        pwd=endpoint["password"],
        sslContext=context,
    )
    try:
        content = client.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        vms = {vm.name: vm for vm in view.view}
        assert sorted(vms) == ["train-01", "train-02", "ubuntu-template"]
        vm = vms["train-01"]
        WaitForTask(vm.ReconfigVM_Task(vim.vm.ConfigSpec(memoryMB=32768)))
        WaitForTask(vm.PowerOnVM_Task())
        assert (vm.config.hardware.memoryMB, vm.runtime.powerState) == (32768, "poweredOn")
        assert vms["train-02"].runtime.powerState == "poweredOff"
    finally:
        Disconnect(client)
