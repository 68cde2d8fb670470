# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Configuration Profiles over REST: read the document and its schema, and import a changed document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, Rest, refused
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import cluster
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.profile import document as profile

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_FIELD = "the configuration of the cluster"
_MESSAGE = "Host settings, by aiready.vsphere"


class ClusterProfile(Noun[profile.ProfileRequest, profile.Profile]):
    """The configuration profile of one cluster."""

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        self._params = params
        self._warn = warn
        self._vcenter: VCenter | None = None
        self._rest: Rest = None  # type: ignore[assignment]
        self._requested: profile.ProfileRequest = profile.request_of(params)
        self._path = ""

    def read(self, items: Sequence[Item[profile.ProfileRequest, profile.Profile]]) -> None:
        (item,) = items
        self._vcenter = session.connect(self._params, self._warn)
        self._rest = Rest(self._vcenter)
        moid = cluster.locate(self._vcenter, item.requested.cluster, item.requested.datacenter)._GetMoId()
        item.ids.update(moid=moid)
        self._path = f"/api/esx/settings/clusters/{moid}"
        item.now = self._look(item.label)
        item.ids.update(reverted=profile.reverted(item.now, item.requested))

    def want(self, item: Item[profile.ProfileRequest, profile.Profile]) -> profile.Profile:
        return profile.want(item.label, item.now, item.requested)

    def compare(self, now: profile.Profile, wanted: profile.Profile) -> list[Change]:
        return profile.compare(now, wanted)

    def apply(self, items: Sequence[Item[profile.ProfileRequest, profile.Profile]]) -> None:
        (item,) = items
        item.touched = True
        body = {"config": json.dumps(item.wanted.document), "description": _MESSAGE}
        wanted = "cannot put the settings into its configuration"
        # Applying a draft would remediate all hosts of the cluster at once. The import changes only the document.
        path = f"{self._path}/configuration?action=importConfig&vmw-task=true"
        try:
            self._rest.task("POST", path, body, item.label, wanted, item.requested.task_timeout_s)
        except Answered as error:
            raise refused(error, item.label, wanted, _FIELD) from error

    def prove(self, items: Sequence[Item[profile.ProfileRequest, profile.Profile]]) -> None:
        (item,) = items
        item.proved = self._look(item.label)
        left = profile.compare(item.proved, profile.want(item.label, item.proved, item.requested))
        if left:
            item.error = not_proved(
                item.label,
                "the import of its configuration had no effect",
                left,
                "Check the configuration of the cluster in vCenter, then run again",
                "vCenter reported success, but this still differs",
            )

    def project(self, state: profile.Profile) -> dict[str, Any]:
        return profile.project(state, self._requested)

    def close(self) -> None:
        """Log out."""
        if self._vcenter is not None:
            self._rest.close()
            self._vcenter.close()

    def _look(self, label: str) -> profile.Profile:
        try:
            if not self._rest.call("GET", f"{self._path}/enablement/configuration").get("enabled"):
                return profile.Profile()
        except Answered as error:
            # Unknown to a vCenter before 8.0 Update 1.
            if error.status == 404:
                return profile.Profile()
            raise refused(error, label, "cannot read how its hosts are configured", _FIELD) from error
        document, schema = self._text(label, "", "config"), self._text(label, "/schema", "schema")
        return profile.Profile(True, document, schema)

    def _text(self, label: str, part: str, key: str) -> dict[str, Any]:
        try:
            return json.loads(self._rest.call("GET", f"{self._path}/configuration{part}")[key])
        except Answered as error:
            raise refused(error, label, "cannot read its configuration", _FIELD) from error
