"""The documentation of helm_release has the options that its action plugin reads."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.action.helm_release import ActionModule
from ansible_collections.aiready.vsphere.plugins.modules import helm_release

from .described import documented, specified


def test_its_options_are_those_of_the_action():
    assert documented(helm_release) == specified(ActionModule.ARGUMENTS)
