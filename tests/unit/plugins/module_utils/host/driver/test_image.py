# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What vCenter answers when a host is brought to the image of its cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.image import ClusterImage

from unit.plugins.module_utils.vcenter.fakes import FakeClock


class Rest:
    """Every task ends with the same result."""

    clock = FakeClock()

    def __init__(self, result):
        self.result, self.sent = result, []

    def task(self, method, path, body, *_more):
        self.sent.append((method, path, body))
        return self.result


def applied(result):
    cluster = SimpleNamespace(_GetMoId=lambda: "domain-c8")
    host = SimpleNamespace(name="esx-01", moid="host-1", cluster="gpu", cluster_ref=cluster)
    rest = Rest(result)
    ClusterImage(SimpleNamespace(rest=rest, host=host), 60).apply()
    return rest.sent


@pytest.mark.parametrize("result", [None, {}, {"status": "OK", "failed_hosts": []}, {"failed_hosts": ["host-2"]}])
def test_a_host_that_is_not_among_the_failed_has_the_image(result):
    ((method, path, body),) = applied(result)
    assert (method, body) == ("POST", {"accept_eula": True, "hosts": ["host-1"]})
    assert path.endswith("?action=apply&vmw-task=true")


@pytest.mark.parametrize(
    "result", [{"status": "ERROR"}, {"status": "OK", "failed_hosts": ["host-2", "host-1"]}], ids=["all", "this host"]
)
def test_a_host_that_failed_has_not(result):
    with pytest.raises(OperatorError) as failed:
        applied(result)
    assert (failed.value.code, failed.value.subject) == ("image_not_applied", "Cluster gpu")
