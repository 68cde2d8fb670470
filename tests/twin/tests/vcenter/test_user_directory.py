"""The user directory of a vCenter."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


@pytest.fixture
def search(client):
    directory = client.content.userDirectory

    def names(text, exact=False, users=True, domain=None, group=None):
        found = directory.RetrieveUserGroups(domain, text, group, None, exact, users, True)
        return [(one.principal, one.fullName, one.group) for one in found]

    return names


def test_users_are_found_by_their_domain_and_a_part_of_their_name(client, search):
    someone = ("someone", "someone vsphere.local", False)
    assert list(client.content.userDirectory.domainList) == ["VSPHERE.LOCAL"]
    assert search("") == search("SOME", domain="vsphere.local") == search("someone", exact=True) == [someone]
    assert search("some", exact=True) == search("", users=False) == search("nobody") == []


def test_an_unknown_domain_is_not_found_and_groups_are_refused(search):
    with pytest.raises(vim.fault.NotFound):
        search("", domain="other.example")
    with pytest.raises(vmodl.fault.NotSupported):
        search("", group="Administrators")
