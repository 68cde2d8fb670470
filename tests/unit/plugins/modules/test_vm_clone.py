# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
from ansible.module_utils import basic
from ansible.module_utils.testing import patch_module_args
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import params, rules, state
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.module import CloneModule
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.noun import Clones
from ansible_collections.aiready.vsphere.plugins.modules import vm_clone

from .described import LOGIN, assert_as_documented, checked, plan

SOURCE = state.Source(path="/dc1/vm/ubuntu-template", firmware="efi", tools=True, nics=1)
HOST = state.HostPlace(None, "host-1", "esx-01", "connected", False, "domain-c8", ("datastore-1",), 0)
STORE = state.Store(None, "datastore-1", "datastore-01", 100, True)


def requested(**options):
    entry = {"name": "train-02", "cloud_init": {"userdata": "#cloud-config\npassword: hush"}, **options}
    return params.requests(checked({**LOGIN, "template": "t", "vms": [entry]}, params.ARGUMENTS))[0]


def test_only_the_userdata_is_secret():
    for level in (params.ARGUMENTS, params.ARGUMENTS["vms"]["options"]):
        secret = [name for name, option in level["cloud_init"]["options"].items() if option.get("no_log")]
        # Names are in the metadata: as secrets they would be blotted out wherever they stand in the result.
        assert secret == ["userdata"]


class OnPaper(Clones):
    """The noun with a place that is given instead of chosen."""

    def want(self, item):
        target = state.Target(None, HOST, STORE, None)
        wanted = rules.new(item, target, SOURCE, "/dc1/vm/training")
        item.ids.update(moid="vm-42", instance_uuid="-", path=wanted.path, host="esx-01", cluster="gpu")
        return wanted


def test_a_result_is_as_documented_and_reports_nothing_of_the_userdata():
    asked = requested()
    noun = OnPaper({}, None)
    found = plan(noun, asked, state.Machine(), key="vms", ids=params.ids(asked.name))
    shown = dict(found, changes=[change for change in found["changes"] if change["path"] in ("exists", "host")])
    assert_as_documented(vm_clone, shown, "vms")
    assert "hush" not in json.dumps(found)
    assert "cloud-config" not in json.dumps(found)


@pytest.mark.parametrize(
    "text", ["#cloud-config\npassword: hush\n", "#cloud-config\nrun: [\"hush\", 'hush']\n", "hush"]
)
@pytest.mark.parametrize("level", ["task", "vm"])
def test_the_log_of_the_system_has_nothing_of_the_userdata(text, level, monkeypatch):
    logged = []
    monkeypatch.setattr(basic, "has_journal", False)
    monkeypatch.setattr(basic.syslog, "openlog", lambda *dummy: None)
    monkeypatch.setattr(basic.syslog, "syslog", lambda *words: logged.append(words[-1]))
    secret = {"cloud_init": {"userdata": text}}
    given = {**LOGIN, "template": "t", "vms": [{"name": "train-02", **(secret if level == "vm" else {})}]}
    with patch_module_args({**given, **(secret if level == "task" else {})}):
        CloneModule(argument_spec=params.ARGUMENTS)
    assert "train-02" in str(logged)
    assert "hush" not in str(logged)
