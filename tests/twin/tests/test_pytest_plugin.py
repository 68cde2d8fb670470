"""The fixture that the package ships, as a project with tests of its own uses it."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import vsphere_twin

TESTS = """
    import pytest
    from pyVim.connect import Disconnect, SmartConnect
    import ssl


    def names(twin):
        context = ssl.create_default_context(cafile=str(twin.ca_file))
        client = SmartConnect(host=twin.host, port=twin.port, user=twin.username, pwd=twin.password, sslContext=context)
        found = sorted(host.name for center in client.content.rootFolder.childEntity
                       for compute in center.hostFolder.childEntity for host in compute.host)
        Disconnect(client)
        return found


    def test_the_seed_of_the_configuration(vsphere_twin):
        assert names(vsphere_twin) == ["esx-01.lab.example", "esx-02.lab.example"]
        assert vsphere_twin.requests["Login"] == 1


    @pytest.mark.vsphere_twin(seed="one.yml")
    def test_a_seed_of_the_marker(vsphere_twin):
        assert names(vsphere_twin) == ["alone.example"]


    @pytest.mark.vsphere_twin(seed="one.yml", faults=[("unavailable", {"count": 1})])
    def test_a_fault_of_the_marker(vsphere_twin):
        with pytest.raises(Exception, match="is down or is not a VIM server"):
            names(vsphere_twin)
        assert names(vsphere_twin) == ["alone.example"]


    @pytest.mark.vsphere_twin(seed="wrong.yml")
    def test_a_seed_that_is_wrong(vsphere_twin):
        pass
"""
SEED = """
    users: {admin: secret}
    datacenters:
      - name: lab
        hosts: [{name: alone.example}]
"""


def test_a_project_uses_the_fixture(tmp_path):
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(TESTS))
    (tmp_path / "one.yml").write_text(textwrap.dedent(SEED))
    (tmp_path / "wrong.yml").write_text("users: {admin: secret}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\nvsphere_twin_seed = factory\n")
    # An installed package is found by its entry point, and sources are not.
    installed = [one for one in importlib.metadata.entry_points(group="pytest11") if one.name == "vsphere_twin"]
    plugin = [] if installed else ["-p", "vsphere_twin.pytest_plugin"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(vsphere_twin.__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed, 1 error" in ran.stdout, ran.stdout + ran.stderr
    assert "wrong.yml:1: seed.datacenters: this key is missing." in ran.stdout
