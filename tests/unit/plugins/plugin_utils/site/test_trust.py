"""The environment alone never silently switches the verification of certificates off; the site has precedence."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.registry import Registry
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import args as bmc_args
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import session as bmc_session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Target, tls_context
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings, questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import trust as site_trust
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

site_connection = FilterModule().filters()["site_connection"]
site_bmc_connection = FilterModule().filters()["site_bmc_connection"]
SITE = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "train-01"}]}
SIDES = {
    "vcenter": (trust.VCENTER, lambda part: {**SITE, "vcenter": part}),
    "bmc": (trust.BMC, lambda part: {**SITE, "hosts": {"bmc": part}}),
}


@pytest.fixture(params=SIDES)
def side(request, monkeypatch):
    for one, _site in SIDES.values():
        monkeypatch.delenv(one.variable, raising=False)
        monkeypatch.delenv(one.ca_variable, raising=False)
    return SIDES[request.param]


@pytest.mark.parametrize("word", ["False", "no", "0", "off"])
def test_a_ca_file_of_the_site_beside_a_variable_that_switches_it_off_is_refused(side, monkeypatch, word):
    which, site = side
    monkeypatch.setenv(which.variable, word)
    (reported,) = problems(site({"ca_file": "/etc/ca.pem"}))
    assert reported.startswith(f"{which.key}.validate_certs: ")
    assert f"{which.variable} is {word}" in reported
    assert f"Set {which.key}.validate_certs to true" in reported


@pytest.mark.parametrize("part", [{"validate_certs": True, "ca_file": "/etc/ca.pem"}, {"validate_certs": True}])
def test_the_sites_own_word_has_precedence(side, monkeypatch, part):
    which, site = side
    monkeypatch.setenv(which.variable, "False")
    assert problems(site(part)) == []
    assert site_trust.unverified(site(part)) == []


@pytest.mark.parametrize("verified", [None, False])
def test_authorities_of_the_environment_are_not_ignored_either(side, monkeypatch, verified):
    which, site = side
    monkeypatch.setenv(which.variable, "False")
    monkeypatch.setenv(which.ca_variable, "/etc/ca.pem")
    (reported,) = problems(site({} if verified is None else {"validate_certs": verified}))
    assert which.ca_variable in reported


@pytest.mark.parametrize("connection", [site_connection, site_bmc_connection], ids=["vcenter", "bmc"])
def test_modules_are_given_precedence_over_the_environment(connection):
    part = {"ca_file": "/etc/ca.pem"}
    given = connection({"vcenter": part, "hosts": {"bmc": part}})
    assert [value for key, value in given.items() if key.endswith("validate_certs")] == [True]


@pytest.mark.parametrize(
    "part, word, setting",
    [
        ({"validate_certs": False}, "", "{key}.validate_certs is false"),
        ({}, "False", "the environment variable {variable} is False"),
        ({"ca_file": None}, "no", "the environment variable {variable} is no"),
    ],
)
def test_a_look_before_a_run_names_what_switches_it_off(side, monkeypatch, part, word, setting):
    which, site = side
    monkeypatch.setenv(which.variable, word)
    setting = setting.format(key=which.key, variable=which.variable)
    asked = questions.questions(site(part))
    assert asked["unverified"] == [[which.what, setting]]
    (found,) = findings.unverified(asked["unverified"])
    assert (found.category, found.where, found.state) == ("trust", which.what, "open")
    assert setting in found.found
    assert f"{which.key}.validate_certs" in found.todo


def test_a_verified_site_has_no_such_finding(side):
    which, site = side
    assert questions.questions(site({"ca_file": "/etc/ca.pem"}))["unverified"] == []


def vcenter(**changes):
    login = {"hostname": "vc.example.org", "port": 443, "username": "u", "password": "p", "request_timeout_s": 5}
    return {**login, "validate_certs": False, "session": "once", **changes}


class NoWire(Exception):
    """The connection would begin here."""


def refuse(_target):
    raise NoWire


@pytest.mark.parametrize(
    "word, setting",
    [("False", "the environment variable VMWARE_VALIDATE_CERTS is False"), ("", "validate_certs is false")],
)
def test_a_task_that_does_not_verify_vcenter_warns_and_names_the_setting(monkeypatch, word, setting):
    monkeypatch.setenv("VMWARE_VALIDATE_CERTS", word)
    warnings = []
    with pytest.raises(NoWire):
        session.connect(vcenter(), warnings.append, make_wire=refuse)
    (reported,) = warnings
    assert reported.startswith(f"The certificate of vCenter vc.example.org is not verified: {setting}.")
    warnings.clear()
    with pytest.raises(NoWire):
        session.connect(vcenter(validate_certs=True), warnings.append, make_wire=refuse)
    assert warnings == []


def test_a_task_with_a_ca_file_that_does_not_verify_is_refused(monkeypatch):
    monkeypatch.setenv("VMWARE_VALIDATE_CERTS", "False")
    with pytest.raises(OperatorError) as reported:
        session.connect(vcenter(ca_file="/etc/ca.pem"), [].append, make_wire=refuse)
    assert (
        "ca_file is /etc/ca.pem, but the environment variable VMWARE_VALIDATE_CERTS is False" in reported.value.message
    )


def bmc(**changes):
    login = {"bmc_address": "bmc-01", "bmc_username": "u", "bmc_password": "p", "bmc_timeout_s": 5}
    return {**login, "bmc_validate_certs": False, "bmc_ca_file": None, **changes}


def test_a_task_that_does_not_verify_a_bmc_warns_and_with_a_ca_file_is_refused(monkeypatch):
    monkeypatch.setenv("AIREADY_BMC_VALIDATE_CERTS", "no")
    warnings = []
    bmc_session.connect(bmc(), warn=warnings.append)
    assert warnings[0].startswith(
        "The certificate of the BMC bmc-01 is not verified: the environment variable AIREADY_BMC_VALIDATE_CERTS is no."
    )
    problems_of_task = bmc_args.check_bmc(bmc(bmc_ca_file=__file__))
    assert "AIREADY_BMC_VALIDATE_CERTS is no, so the certificate would not be verified" in problems_of_task[0]


GROUPS = {"esxi_hosts": ["esx-01", "esx-02"], "switches": ["leaf-01"], "training_guests": ["train-01"]}


def of_host_keys(variables):
    return list(findings.unverified(questions.everything(SITE, groups=GROUPS, variables=variables)["unverified"]))


@pytest.mark.parametrize("word, rows", [("False", 1), ("no", 1), ("True", 0), ("", 0)])
def test_a_look_before_a_run_reports_that_awx_does_not_check_host_keys(side, monkeypatch, word, rows):
    monkeypatch.setenv("ANSIBLE_HOST_KEY_CHECKING", word)
    found = of_host_keys({})
    assert [(one.where, one.what) for one in found] == [("hosts and switches over SSH", "host keys")] * rows
    for one in found:
        assert f"ANSIBLE_HOST_KEY_CHECKING is {word}, as AWX sets it (esx-01, esx-02, leaf-01)" in one.found
        assert "ansible_host_key_checking" in one.todo


def test_the_row_names_the_hosts_without_the_fix_and_ends_with_the_last(side, monkeypatch):
    monkeypatch.setenv("ANSIBLE_HOST_KEY_CHECKING", "False")
    checked = {"ansible_host_key_checking": True}
    (row,) = of_host_keys({"esx-01": checked, "leaf-01": {"ansible_connection": "ansible.netcommon.httpapi"}})
    assert "as AWX sets it (esx-02)." in row.found
    off = {"ansible_ssh_common_args": "-o StrictHostKeyChecking=no"}
    (row,) = of_host_keys({"esx-01": off, "leaf-01": checked})
    assert "ansible_ssh_common_args: StrictHostKeyChecking=no (esx-01), and the environment" in row.found
    assert "as AWX sets it (esx-02)." in row.found
    assert of_host_keys({"esx-01": checked, "esx-02": checked, "leaf-01": checked}) == []


KEY = b"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n"
UNUSABLE = {
    "a private key": (KEY, "it holds a private key and no certificate"),
    "DER": (
        b"\x30\x82\x03\x0f\x30",
        "it is in DER format; convert it with: openssl x509 -inform der -in {} -out {}.pem",
    ),
    "something else": (b"https://authority.example.org/ca.pem\n", "it holds no certificate in PEM format"),
}


def vcenter_authority(path):
    tls_context(Target("vcenter.example.org", 443, None, 0, True, path, 60))


def bmc_authority(path):
    wrong = [one for one in bmc_args.check_bmc(bmc(bmc_ca_file=path, bmc_validate_certs=True)) if path in one]
    raise OperatorError(path, "", " ".join(wrong), "", "")


def registry_authority(path):
    Registry("images.example.com", ca_files=[path])


@pytest.mark.parametrize("content, why", UNUSABLE.values(), ids=UNUSABLE.keys())
@pytest.mark.parametrize("use", [vcenter_authority, bmc_authority, registry_authority])
def test_a_file_that_is_no_authority_is_reported_by_what_it_is(use, content, why, tmp_path):
    path = str(tmp_path / "ca.pem")
    (tmp_path / "ca.pem").write_bytes(content)
    with pytest.raises(OperatorError) as error:
        use(path)
    assert why.replace("{}", path) in error.value.message
    assert "MC4CAQ" not in error.value.message
