# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.modules import guest_rdma_info

from unit.plugins.module_utils.guest.network.test_rdma import device
from unit.plugins.module_utils.guest.network.world import Guest

RETURNED = yaml.safe_load(guest_rdma_info.RETURN)["rdma"]["contains"]


def test_the_result_has_exactly_the_documented_keys(tmp_path):
    files = Files(str(tmp_path))
    device(files, "mlx5_0")
    found = guest_rdma_info.look(Guest(tmp_path), files, None)
    devices = RETURNED["devices"]["contains"]
    assert set(found) == set(RETURNED)
    assert set(found["devices"][0]) == set(devices)
    assert set(found["devices"][0]["ports"][0]) == set(devices["ports"]["contains"])
    assert set(found["gpudirect"]) == set(RETURNED["gpudirect"]["sample"])


def test_a_guest_without_anything_is_reported_and_no_error(tmp_path):
    found = guest_rdma_info.look(Guest(tmp_path), Files(str(tmp_path)), "ops")
    assert (found["devices"], found["modules"], found["ofed"], found["memlock"]) == ([], [], None, None)


def test_drivers_that_wait_for_a_restart_are_reported_of_ofed_alone(tmp_path):
    files = Files(str(tmp_path))
    files.write("/sys/module/mlx5_core/initstate", "live\n")
    answers = {"modinfo mlx5_core": "version:        24.10-1.1.4\n"}
    assert guest_rdma_info.look(Guest(tmp_path, answers=answers), files, None)["outdated"] == []
    answers["ofed_info"] = "OFED-internal-24.10-1.1.4:\n"
    assert guest_rdma_info.look(Guest(tmp_path, answers=answers), files, None)["outdated"] == ["mlx5_core"]
