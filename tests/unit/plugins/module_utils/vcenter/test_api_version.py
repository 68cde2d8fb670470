# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import api_version

from unit.plugins.module_utils.vcenter.fakes import target


def page(*versions, namespace="urn:vim25"):
    prior = "".join(f"<version>{text}</version>" for text in versions[1:])
    return (
        f'<?xml version="1.0"?><namespaces version="1.0"><namespace><name>{namespace}</name>'
        f"<version>{versions[0]}</version><priorVersions>{prior}</priorVersions></namespace></namespaces>"
    ).encode()


@pytest.mark.parametrize(
    "offered, spoken",
    [
        (("7.0.2.0", "7.0.1.0", "6.7"), "vim.version.v7_0_2_0"),
        (("8.0.3.0", "8.0.2.0"), "vim.version.v8_0_3_0"),
        (("8.0.2.0", "8.0.10.0", "8.0.3.0"), "vim.version.v8_0_3_0"),
        (("99.0.0.0", "8.0.1.0"), "vim.version.v8_0_1_0"),
    ],
    ids=["7.0U2", "8.0U3", "any-order", "newer-than-the-library"],
)
def test_the_newest_version_that_both_sides_know_is_spoken(offered, spoken):
    assert api_version.negotiate(target(), 200, page(*offered)) == spoken


@pytest.mark.parametrize("offered", [("6.7", "6.5", "5.5"), ("7.0.1.0", "7.0.0.0"), ("7.0.0.0", "6.7")])
def test_a_server_older_than_7_0_update_2_is_refused_with_its_version(offered):
    words = rf"supports up to {re.escape(offered[0])}.*Use vCenter 7\.0 Update 2 or newer"
    with pytest.raises(OperatorError, match=words) as caught:
        api_version.negotiate(target(), 200, page(*offered))
    assert caught.value.code == "api_version"


def test_a_server_too_new_for_the_library_asks_for_a_newer_library():
    with pytest.raises(OperatorError, match="Use a newer pyVmomi"):
        api_version.negotiate(target(), 200, page("99.0.0.0", "98.0.0.0"))


@pytest.mark.parametrize(
    "status, body",
    [
        (404, b"not here"),
        (200, b"<html><body>Welcome</body></html>"),
        (200, b"plain text"),
        (200, page("1.0", namespace="urn:sms")),
    ],
    ids=["404", "web-page", "text", "another-service"],
)
def test_something_else_at_the_address_is_called_so(status, body):
    with pytest.raises(OperatorError, match=r"no vSphere API at https://vc\.example:443/sdk") as caught:
        api_version.negotiate(target(), status, body)
    assert caught.value.code == "not_a_vcenter"


ORDER = ["7.0.2.0", "8.0.0.0", "8.0.0.1", "8.0.1.0"]


def test_versions_compare_in_the_order_of_the_library():
    spoken = api_version._spoken()
    for position, text in enumerate(ORDER):
        found = [one for one in ORDER if api_version.includes(spoken[text], one)]
        assert found == ORDER[: position + 1]


def test_version_that_is_no_number_is_compared_and_spoken(newer_library):
    assert api_version.newest_known() == "9.1.1.0"
    assert api_version.negotiate(target(), 200, page("m5CA1EF4D", "9.1.0.0")) == "vim.version.v9_1_0_1"
    assert api_version.negotiate(target(), 200, page("9.1.1.0", "9.1.0.0", "m5CA1EF4D")) == "vim.version.v9_1_1_0"
    for text, there in {"9.0.0.0": True, "9.1.0.0": True, "m5CA1EF4D": True, "9.1.1.0": False}.items():
        assert api_version.includes("vim.version.v9_1_0_1", text) is there


def test_version_that_the_library_does_not_know_is_not_included():
    newest = api_version._spoken()[api_version.newest_known()]
    assert not api_version.includes(newest, "mFFFFFFFF")
    assert not api_version.includes(newest, "99.0.0.0")
    assert api_version.negotiate(target(), 200, page("mFFFFFFFF", "8.0.1.0")) == "vim.version.v8_0_1_0"


@pytest.fixture
def newer_library():
    if "m5CA1EF4D" not in api_version._spoken():
        pytest.skip("This pyVmomi is older than 9.1.")
