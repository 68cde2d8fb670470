"""The secrets of kubernetes_object."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import noun


def test_a_secret_is_shown_and_recorded_without_its_content():
    now = noun.State(True, {"data.a": "eA=="}, secret=True)
    objects = noun.Objects({})
    (change,) = objects.compare(now, noun.State(True, {"data.a": "eQ=="}, secret=True))
    assert (change.before, change.after) == ("[not shown]", "[not shown]")
    assert objects.project(now)["fields"] == {"data.a": "[not shown]"}
