"""Which VMkernel adapter a preview of an ESXi host names for the comparison of addresses, as Ansible works it out."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, which takes any text for a template
    trust_as_template = str

TASKS = pathlib.Path(__file__).resolve().parents[3] / "roles" / "esxi_host" / "tasks" / "preview.yml"


@pytest.mark.parametrize(
    "pvrdma, named",
    [
        pytest.param(True, "vmk1", id="PVRDMA connects these adapters"),
        pytest.param(False, "", id="SR-IOV may have an adapter in another subnet on each host"),
    ],
)
def test_addresses_are_compared_only_where_pvrdma_connects_them(pvrdma, named):
    (task,) = (one for one in yaml.safe_load(TASKS.read_text()) if one["name"] == "Record what the stage would do")
    expression = task["vars"]["__esxi_host_outlook"]["vmknic"]
    given = {"esxi_host_vmknic": "vmk1", "esxi_host_pvrdma": pvrdma}
    assert Templar(loader=DataLoader(), variables=given).template(trust_as_template(expression)) == named
