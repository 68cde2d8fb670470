"""Callbacks write where their options say."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.listener import Listener


def test_the_folders_of_the_options_are_those_of_the_run():
    folder = Listener("/srv/one/run", "/srv/results").folder
    assert (folder.path, folder.results) == ("/srv/one/run", "/srv/results")
