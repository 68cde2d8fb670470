"""The simulated vCenter holds users to their privileges, as a plain client sees it."""

from __future__ import annotations

import re
import shlex

import pytest
from pyVmomi import vim, vmodl

from house.collection import ROOT

from .lab import lab
from .observe import client

USER = "automation@vsphere.local"
PRINCIPAL = r"VSPHERE.LOCAL\automation"
SEED = {
    **lab({}, {}),
    "users": {USER: "secret", "administrator@vsphere.local": "VMware1!"},
    "roles": {"operators": ["Host.Config.Maintenance"]},
    "permissions": [{"user": USER, "role": "operators", "object": "gpu"}],
}


@pytest.fixture
def service(twin):
    with client(twin(seed=SEED)) as service:
        yield service.RetrieveContent()


def host(content):
    return content.searchIndex.FindByDnsName(dnsName="esx-01", vmSearch=False)


def test_what_is_held_is_reported_of_a_session_and_of_a_user(service):
    manager, asked = service.authorizationManager, ["Host.Config.Maintenance", "Host.Config.Settings"]
    session = service.sessionManager.currentSession
    of_session = manager.HasPrivilegeOnEntities(entity=[host(service)], sessionId=session.key, privId=asked)
    of_user = manager.HasUserPrivilegeOnEntities(entities=[host(service)], userName=USER, privId=asked)
    for (reported,) in (of_session, of_user):
        assert {one.privId: one.isGranted for one in reported.privAvailability} == {asked[0]: True, asked[1]: False}
    (everything,) = manager.FetchUserPrivilegeOnEntities(entities=[host(service)], userName=USER)
    assert set(everything.privileges) == {"Host.Config.Maintenance", "System.Anonymous", "System.Read", "System.View"}
    reported = manager.RetrieveEntityPermissions(entity=host(service), inherited=True)
    (permission,) = [one for one in reported if one.principal == PRINCIPAL]
    assert (permission.entity.name, permission.propagate) == ("gpu", True)
    assert not manager.RetrieveEntityPermissions(entity=host(service), inherited=False)
    roles = {role.roleId: role.name for role in manager.roleList}
    assert roles[permission.roleId] == "operators"
    assert host(service).effectiveRole == [permission.roleId]


def test_a_method_is_refused_without_its_privilege_and_the_fault_names_it(service):
    with pytest.raises(vim.fault.NoPermission) as refused:
        host(service).configManager.firewallSystem.EnableRuleset(id="pvrdma")
    assert (refused.value.privilegeId, refused.value.object) == ("Host.Config.NetService", host(service))


def test_a_session_or_a_user_that_does_not_exist_is_refused(service):
    manager = service.authorizationManager
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.HasPrivilegeOnEntities(entity=[host(service)], sessionId="none", privId=["System.View"])
    with pytest.raises(vim.fault.UserNotFound):
        manager.FetchUserPrivilegeOnEntities(entities=[host(service)], userName="nobody")


def test_the_role_of_the_page_for_the_security_team_is_one_that_vcenter_takes(twin):
    page = (ROOT / "docs" / "security.md").read_text()
    words = re.search(r"govc role\.create (aiready(?: \\\n +[\w.]+)+)", page).group(1)
    # As govc hands them to AuthorizationManager.AddAuthorizationRole: NAME [PRIVILEGE]...
    name, *privileges = shlex.split(words.replace("\\\n", " "))
    with client(twin(seed=lab({}, {}))) as service:
        manager = service.RetrieveContent().authorizationManager
        number = manager.AddAuthorizationRole(name=name, privIds=privileges)
        (made,) = [role for role in manager.roleList if role.roleId == number]
        assert made.name == "aiready"
        assert set(privileges) <= set(made.privilege)
        with pytest.raises(vmodl.fault.InvalidArgument):
            manager.AddAuthorizationRole(name="other", privIds=["Host.Config.Maintenence"])
