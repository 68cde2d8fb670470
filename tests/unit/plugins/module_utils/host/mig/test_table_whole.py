# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The table of MIG profiles as it was read once against its sources: a slip of a digit shows as a difference."""

from __future__ import annotations

from dataclasses import fields

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import table

from unit import approved


def line(entry, left_out=()):
    reported = {one.name: getattr(entry, one.name) for one in fields(entry) if one.name not in left_out}
    return ";".join(f"{key}={value}" for key, value in reported.items() if value not in (None, (), "")).replace(" ", "")


@pytest.mark.parametrize("key", table.GPUS)
def test_profiles_of_a_gpu(key):
    gpu = table.GPUS[key]
    profiles = {f"{profile.id} {profile.name}": line(profile, ("id", "name")) for profile in gpu.profiles}
    approved.check(__file__, key, {"gpu": line(gpu, ("profiles", "note")), **profiles})


def test_the_rest_of_the_table():
    reported = {"compute instances": line_of(table.COMPUTE_INSTANCE_PROFILES)}
    approved.check(__file__, "rest", reported)


def line_of(ids):
    return ",".join(f"{name}={number}" for name, number in ids.items())
