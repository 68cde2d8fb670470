"""Settings of hosts that a configuration profile manages: kept by the document, or named before they are lost."""

from __future__ import annotations

import contextlib

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Rest

from .drive import connection
from .rows.cluster_configuration import KERNEL, MODULES, cluster, document, kernel, world
from .vib_lab import ESX, machine, ready

NICS = [{"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"}, {"device": "vmnic1", "model": "cx7"}]
OPTIONS = {"nmlx5_core": {"pfctx": "0x08"}}
WAYS = {"validate_certs": True, "request_timeout_s": 60}
ATS = f"{KERNEL}/atsSupport"


def remediate(running, tmp_path):
    """What an administrator does in vCenter."""
    params = {**connection(running, tmp_path / "others"), "session": "once", **WAYS}
    vcenter = session.connect(params, lambda text: None)
    rest = Rest(vcenter)
    with contextlib.closing(vcenter):
        path = f"/api/esx/settings/clusters/{cluster(running).moid}/configuration?action=apply&vmw-task=true"
        rest.task("POST", path, {}, "Cluster gpu", "cannot be remediated", 60)
        rest.close()


def test_a_remediation_reverts_a_setting_that_the_document_does_not_have(twin, drive, tmp_path):
    running = twin(seed=world())
    module = drive(running)
    assert module("esxi_kernel_setting", host=ESX, settings={"atsSupport": True})["changed"]
    remediate(running, tmp_path)
    assert machine(running).kernel.settings["atsSupport"].configured == "FALSE"


def test_a_remediation_keeps_settings_that_are_in_the_document(twin, drive, tmp_path):
    running = twin(seed=world(nics=NICS))
    module = drive(running)
    settings = {"kernel_settings": {"atsSupport": True}, "module_options": OPTIONS}
    assert module("cluster_configuration", cluster="gpu", settings=settings)["changed"]
    assert module("esxi_kernel_setting", host=ESX, settings={"atsSupport": True})["changed"]
    assert module("esxi_module_options", host=ESX, module="nmlx5_core", options=OPTIONS["nmlx5_core"])["changed"]
    remediate(running, tmp_path)
    found = machine(running).kernel
    assert (found.settings["atsSupport"].configured, found.modules["nmlx5_core"].options) == ("TRUE", "pfctx=0x08")


def test_a_setting_that_the_schema_does_not_have_is_named_before_anything_changes(twin, drive):
    running = twin(seed=world(["kernel_settings"]))
    module = drive(running)
    asked = {"cluster": "gpu", "settings": {"kernel_settings": {"atsSupport": True}, "module_options": OPTIONS}}
    predicted, refused = [module("cluster_configuration", check=check, **asked) for check in (True, False)]
    assert predicted == refused
    assert refused["failure"]["code"] == "settings_reverted"
    assert refused["failure"]["settings"] == [f"{MODULES}/nmlx5_core/pfctx"]
    assert document(running) == {"kernel_settings": {}}
    answer = module("cluster_configuration", uncovered="report", **asked)
    assert answer["cluster"]["reverted"] == refused["failure"]["settings"]
    assert [change["path"] for change in answer["cluster"]["changes"]] == [ATS]
    assert document(running) == {"kernel_settings": {"atsSupport": "TRUE"}}


def test_a_cluster_without_a_profile_changes_nothing(twin, drive):
    for seed in (ready(), ready(release="7.0.3")):
        answer = drive(twin(seed=seed))("cluster_configuration", **kernel(atsSupport=True))
        assert (answer["changed"], answer["cluster"]["reverted"]) == (False, [])
        assert answer["cluster"]["after"] == {"managed": False, "settings": {}}


def test_a_cluster_that_is_not_there_is_named(twin, drive):
    answer = drive(twin(seed=world()))("cluster_configuration", cluster="gpus")
    assert answer["failure"]["code"] == "cluster_not_found"
