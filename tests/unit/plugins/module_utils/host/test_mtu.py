# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mtu

from . import worlds


def plan(devices=("vmk1",), size=9000, switch="raise", **network):
    now = mtu.state_of(worlds.network(**network), devices)
    wanted = mtu.want("esx", now, mtu.MtuRequest(list(devices), size, switch))
    return [(change.path, change.before, change.after) for change in mtu.compare(now, wanted)]


def test_the_switch_comes_before_the_adapter():
    assert plan() == [("mtu.dvs-train", 1500, 9000), ("mtu.vmk1", 1500, 9000)]


def test_a_switch_that_is_large_enough_is_left_alone_and_never_lowered():
    assert plan(mtu=9000) == [("mtu.vmk1", 1500, 9000)]
    assert plan(size=1500, mtu=9000) == []


def test_two_adapters_of_one_switch_raise_it_once():
    assert plan(("vmk1", "vmk1")) == [("mtu.dvs-train", 1500, 9000), ("mtu.vmk1", 1500, 9000)]


@pytest.mark.parametrize(
    "devices, switch, words",
    [
        (["vmk1"], "refuse", "dvs-train has an MTU of 1500, which all its hosts share"),
        (["vmk0"], "raise", "standard switch vSwitch0 has an MTU of 1500"),
        (["vmk9"], "raise", "no VMkernel adapter vmk9; there are: vmk0, vmk1"),
    ],
)
def test_what_would_not_work_or_hurt_others_is_refused(devices, switch, words):
    with pytest.raises(OperatorError) as refused:
        plan(devices, switch=switch)
    assert words in refused.value.message


@pytest.mark.parametrize("size, refused", [(1280, False), (9000, False), (1279, True), (9216, True)])
def test_an_mtu_that_no_adapter_takes_is_refused_before_anything_is_asked(size, refused):
    assert bool(mtu.check_params({"mtu": size})) is refused


def test_a_standard_switch_of_just_that_mtu_is_large_enough():
    assert plan(["vmk0"], size=1500) == []
