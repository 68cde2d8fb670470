"""The documentation of helm_release has the options that its action plugin reads."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.action import helm_release as action
from ansible_collections.aiready.vsphere.plugins.modules import helm_release

from .described import documented


def test_its_options_are_those_of_the_action():
    others = {"name", "namespace", "state", "content", "revision", "kubeconfig", "context"}
    assert set(documented(helm_release)) == {*action.OPTIONS, *others}
