"""The key of the twin's depot has the fingerprint that the twin names, as the product reads it."""

from __future__ import annotations

import base64

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.repository_keys import fingerprints

from vsphere_twin.guests.depot import Depot
from vsphere_twin.vcenter.certificates import server_context


class World:
    """What a depot belongs to."""


def test_the_fingerprint_of_its_key_is_in_its_endpoint(tmp_path):
    server_context(tmp_path)
    depot = Depot(World(), tmp_path)
    depot.start()
    try:
        made = [fingerprints(depot._signer.public), fingerprints(dearmored(depot._signer.public))]
        assert made == [depot.endpoint()["key_fingerprints"]] * 2
    finally:
        depot.stop()


def dearmored(text):
    lines = text.decode().split("\n\n", 1)[1].splitlines()
    return base64.b64decode("".join(line for line in lines if line[:1] not in ("=", "-")))
