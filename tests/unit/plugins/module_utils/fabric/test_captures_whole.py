# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""All that is read of each capture, as it was approved."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of

from unit import approved

from .test_noise import CAPTURES


def reported(name, text):
    """What is read, without the text itself."""
    try:
        found = offline.parsed(platform_of(name, None), text)
    except OperatorError as refusal:
        return {"refused": refusal.code}
    return filled({key: one for key, one in found.items() if key not in ("config", "platform")})


def filled(value):
    """Without the many keys that a capture says nothing of."""
    if isinstance(value, dict):
        return {key: filled(one) for key, one in value.items() if one is not None}
    return [filled(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name, path", [pytest.param(*one, id=f"{one[0]}-{one[1].name}") for one in CAPTURES])
def test_a_capture_is_read_as_a_whole(name, path):
    text = path.read_text(encoding="utf-8")
    whole = reported(name, text)
    approved.check(__file__, f"{name}/{path.name}", whole)
