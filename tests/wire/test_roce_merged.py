# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""State merged on every platform: other lossless priorities stay, and the RoCE traffic class is added and removed."""

from __future__ import annotations

import pytest

from .roce_lab import bench, ended
from .rows.roce_qos import PORTS

# Enterprise SONiC creates buffers for both only with another restart, which the module rejects.
PLATFORMS = [platform for platform in PORTS if platform != "enterprise_sonic"]
STORAGE = {"priority": 4, "dscp": 34}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_another_lossless_priority_stays_beside_that_of_roce(platform):
    with bench(platform) as lab:
        reported = lab.set(**STORAGE)
        assert lab.now()["lossless"] == [4], reported
        reported = lab.set(state="merged")
        assert (lab.now()["class"], lab.now()["lossless"], lab.now()["marks"]) == (3, [3, 4], True), reported
        assert reported["switch"]["outcome"] == "new"
        assert lab.set(state="merged")["changed"] is False


# The lossy preset of Cumulus Linux has no pool for another lossless priority, so the verification fails there.
@pytest.mark.parametrize("platform", [platform for platform in PLATFORMS if platform != "cumulus"])
def test_lossy_roce_leaves_another_lossless_priority(platform):
    with bench(platform) as lab:
        lab.set(**STORAGE)
        lab.set(state="merged")
        reported = lab.set(state="merged", mode="lossy")
        assert not reported.get("failed"), reported["msg"]
        assert lab.now()["lossless"] == [4]
        assert lab.set(state="merged", mode="lossy")["changed"] is False


def test_where_another_priority_would_not_stay_lossless_the_switch_goes_back():
    with bench("cumulus") as lab:
        lab.set(**STORAGE)
        lab.set(state="merged")
        ended(lab.set(state="merged", mode="lossy"), "old", "not_proved")
        assert lab.now()["lossless"] == [3, 4]
