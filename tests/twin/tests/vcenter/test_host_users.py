"""Local users, directories of users and the SNMP agent of a host."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

User = vim.host.LocalAccountManager.AccountSpecification
Agent = vim.host.SnmpSystem.SnmpConfigSpec


@pytest.fixture
def managers(client, world):
    return client.reference(world.of_kind("HostSystem")[0]).configManager


def test_a_local_user_is_created_changed_and_removed(managers):
    users, directory = managers.accountManager, managers.userDirectory

    def shown(text, exact=True):
        found = directory.RetrieveUserGroups(None, text, None, None, exact, True, False)
        return [(one.principal, one.fullName) for one in found]

    assert [name for name, _full_name in shown("", exact=False)] == ["dcui", "root", "vpxuser"]
    users.CreateUser(User(id="audit", password="aB3$efgh", description="Reads logs"))
    assert shown("audit") == [("audit", "Reads logs")]
    users.UpdateUser(User(id="audit", description="Reads all logs"))
    assert shown("aud", exact=False) == [("audit", "Reads all logs")]
    with pytest.raises(vim.fault.AlreadyExists):
        users.CreateUser(User(id="audit", password="aB3$efgh"))
    users.RemoveUser("audit")
    assert shown("audit") == []


@pytest.mark.parametrize("password", [None, "", "aB3$ef", "abcdefgh", "Abcdefgh1", "aB3$" * 11])
def test_a_weak_password_is_rejected(managers, password):
    with pytest.raises(vmodl.fault.InvalidArgument) as caught:
        managers.accountManager.CreateUser(User(id="audit", password=password))
    assert caught.value.invalidProperty == "password"


def test_an_unknown_user_is_not_found_and_root_stays(managers):
    users = managers.accountManager
    with pytest.raises(vim.fault.UserNotFound):
        users.UpdateUser(User(id="nobody", description="x"))
    with pytest.raises(vim.fault.UserNotFound):
        users.RemoveUser("nobody")
    with pytest.raises(vmodl.fault.SecurityError):
        users.RemoveUser("root")


def test_a_host_has_joined_no_domain_and_finds_none(client, world, managers):
    host = client.reference(world.of_kind("HostSystem")[0])
    local, directory = host.config.authenticationManagerInfo.authConfig
    assert (local.enabled, directory.enabled) == (True, False)
    _local, directory = managers.authenticationManager.supportedStore
    task = directory.JoinDomain_Task("lab.example", "joiner", "secret")
    world.timeline.settle()
    assert isinstance(task.info.error, vim.fault.DomainNotFound)
    with pytest.raises(vim.fault.InvalidState):
        directory.LeaveCurrentDomain_Task(True)


def test_the_agent_keeps_its_settings_and_is_reset(managers):
    system = managers.snmpSystem
    assert (system.configuration.enabled, system.configuration.port) == (False, 161)
    target = Agent.Destination(hostName="trap.lab.example", port=162, community="public")
    contact = vim.KeyValue(key="syscontact", value="operations")
    system.ReconfigureSnmpAgent(
        Agent(enabled=True, readOnlyCommunities=["public"], trapTargets=[target], option=[contact])
    )
    system.SendTestNotification()
    system.ReconfigureSnmpAgent(Agent(port=1161))
    now = system.configuration
    assert (now.enabled, now.port, list(now.readOnlyCommunities)) == (True, 1161, ["public"])
    assert [one.hostName for one in now.trapTargets] == ["trap.lab.example"]
    assert {one.key: one.value for one in now.option}["syscontact"] == "operations"
    nowhere = Agent.Destination(hostName="", port=0, community="")
    system.ReconfigureSnmpAgent(Agent(enabled=False, readOnlyCommunities=[""], trapTargets=[nowhere]))
    assert (list(system.configuration.readOnlyCommunities), list(system.configuration.trapTargets)) == ([], [])
    with pytest.raises(vim.fault.NotFound):
        system.SendTestNotification()


@pytest.mark.parametrize(
    "spec, fault",
    [
        (Agent(readOnlyCommunities=[str(number) for number in range(11)]), vim.fault.InsufficientResourcesFault),
        (Agent(port=70000), vmodl.fault.InvalidArgument),
        (Agent(option=[vim.KeyValue(key="loglevel", value="loud")]), vmodl.fault.InvalidArgument),
        (Agent(option=[vim.KeyValue(key="colour", value="red")]), vmodl.fault.InvalidArgument),
    ],
)
def test_an_agent_rejects_what_it_cannot_have(managers, spec, fault):
    with pytest.raises(fault):
        managers.snmpSystem.ReconfigureSnmpAgent(spec)
    assert managers.snmpSystem.configuration.port == 161
