# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The driver by the image of the host's cluster (vSphere Lifecycle Manager): depot, draft, commit, apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, cast
from urllib.parse import urlencode

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import names, plan, refusals, version
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.pauses import Pauses
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, refused

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.read import Reach
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.source import Source
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

_DEPOTS = "/api/esx/settings/depots/offline"
_MESSAGE = "NVIDIA host driver, by aiready.vsphere"


def bring(reach: Reach, cluster: ClusterImage, item: Item[DriverRequest, HostDriver], source: Source | None) -> None:
    """Bring the cluster's image to the desired state, and the host to the image; continues a killed run."""
    there, wanted = dict(item.now.in_image), dict(item.wanted.in_image)
    requested_one = {name: wanted.get(name) for name in set(there) | set(wanted)}
    if item.now.vibs != item.wanted.vibs:
        plan.demand_maintenance(item.label, item.now)
    cluster.provide(requested_one, source)
    item.touched = True
    if not cluster.holds(requested_one):
        cluster.change(requested_one)
    if item.now.vibs != item.wanted.vibs:
        newer = plan.newer_vibs(item.now, item.wanted)
        if newer:
            # vCenter replaces no component by an older one, so that one goes first (Broadcom KB 320562, option 3).
            _remove(reach, newer)
        cluster.apply()


def _remove(reach: Reach, vibs: list[str]) -> None:
    try:
        reach.esxcli.call("software.vib.remove", vibname=vibs)
    except OperatorError as error:
        raise (refusals.advised(error) if error.code == "esxcli_failed" else error) from error


class ClusterImage:
    """The image of the cluster of one host."""

    def __init__(self, reach: Reach, timeout_s: int = 0, progress: Callable[[str], None] | None = None) -> None:
        self._rest = reach.rest
        self._host = reach.host
        self._timeout_s = timeout_s
        self._progress = progress
        self._path = (
            "/api/esx/settings/clusters/"
            f"{cast('vim.ClusterComputeResource', reach.host.cluster_ref)._GetMoId()}/software"
        )
        self._label = f"Cluster {reach.host.cluster}"

    def components(self) -> dict[str, str]:
        """{name: version} of the components that the image has beyond its base."""
        return _versions(self._image().get("components"))

    def offered(self, family: str, wanted: str) -> list[tuple[str, str]]:
        """(name, version) of the components in vCenter's depots with a version of a driver, one for each ESXi."""
        return sorted(
            (name, text)
            for name, texts in self._in_depots().items()
            for text in texts
            if names.family_of(name) == family and version.is_named(text, wanted)
        )

    def holds(self, requested_one: Mapping[str, str | None]) -> bool:
        """Return whether the image matches the request: {name: version}, None for a component to leave out."""
        there = self.components()
        return all(there.get(name) == version for name, version in requested_one.items())

    def provide(self, requested_one: Mapping[str, str | None], source: Source | None) -> None:
        """Have the components in one of vCenter's depots."""
        missing = {name: version for name, version in requested_one.items() if version is not None}
        if not missing or source is None or self._is_in_depots(missing):
            return
        if source.url is None:
            raise OperatorError(
                self._label,
                f"cannot put {_spoken(missing)} into its image",
                f"No depot of vCenter's Lifecycle Manager has it, and vCenter cannot import it from {source.name}",
                "Use `url` with an address from which vCenter can download the depot, or import it in vCenter",
                "not_in_depot",
                components=missing,
            )
        body = {"source_type": "PULL", "location": source.url, "description": _MESSAGE}
        try:
            self._task("POST", f"{_DEPOTS}?vmw-task=true", body, f"import the depot {source.url}")
        except OperatorError:
            # The run of another host may have imported it at the same time.
            if not self._is_in_depots(missing):
                raise
        if not self._is_in_depots(missing):
            raise OperatorError(
                self._label,
                f"cannot put {_spoken(missing)} into its image",
                f"vCenter imported the depot {source.url}, and the depot does not contain it",
                "Set `url` to the offline depot of the driver",
                "not_in_depot",
                components=missing,
            )

    def change(self, requested_one: Mapping[str, str | None]) -> None:
        """Draft, patch, commit; a run that commits the same change at the same time does no harm."""
        draft = self._draft(requested_one)
        body = {
            "components_to_set": {name: version for name, version in requested_one.items() if version is not None},
            "components_to_delete": sorted(name for name, version in requested_one.items() if version is None),
        }
        body = {key: value for key, value in body.items() if value}
        path = f"{self._path}/drafts/{draft}"
        try:
            self._call(
                "PATCH",
                f"{path}/software/components",
                body,
                f"cannot set {_spoken(requested_one)} in a draft of its image",
            )
            commit = f"{path}?{urlencode({'action': 'commit', 'vmw-task': 'true'})}"
            self._task("POST", commit, {"message": _MESSAGE}, f"commit {_spoken(requested_one)} to its image")
        except OperatorError:
            # Another host's run may have committed the draft meanwhile.
            if not self.holds(requested_one):
                raise

    def apply(self) -> None:
        """Bring this host, and no other, to the image."""
        path = f"{self._path}?{urlencode({'action': 'apply', 'vmw-task': 'true'})}"
        body = {"accept_eula": True, "hosts": [self._host.moid]}
        step = f"apply the image to host {self._host.name}"
        result = self._task("POST", path, body, step) or {}
        if self._host.moid in (result.get("failed_hosts") or ()) or result.get("status") == "ERROR":
            said = [entry.get("default_message", "") for entry in _notes(result)]
            raise OperatorError(
                self._label,
                f"cannot {step}",
                f"vCenter reported: {' / '.join(said) or 'no reason'}",
                "Check the cluster's compliance in vCenter. If a newer driver was installed by hand, the image needs "
                "the same or a newer version",
                "image_not_applied",
                messages=said,
            )

    def _draft(self, requested_one: Mapping[str, str | None]) -> str:
        """An own draft that a killed run has left, if nothing else is in it; otherwise a new one."""
        image = self._image()
        drafts = self._call("GET", f"{self._path}/drafts", wanted="cannot read its drafts") or {}
        held = []
        for draft in sorted(drafts):
            owner = (drafts[draft] or {}).get("owner") or "somebody"
            if not self._rest.is_user(owner):
                continue
            content = self._call("GET", f"{self._path}/drafts/{draft}", wanted=f"cannot read its draft {draft}")
            others = _other_changes(image, content.get("software") or {}, requested_one)
            if not others:
                return draft
            held.append(f"{owner} changes {', '.join(others)} in one")
        try:
            return self._rest.call("POST", f"{self._path}/drafts")
        except Answered as error:
            if not held:
                raise refused(error, self._label, "cannot create a draft of its image") from error
            raise OperatorError(
                self._label,
                f"cannot put {_spoken(requested_one)} into its image",
                f"vCenter creates no further draft, and the existing drafts have other changes: {'; '.join(held)}",
                "Remove or save the draft in vCenter, then run again",
                "draft_in_the_way",
                drafts=sorted(drafts),
            ) from error

    def _image(self) -> Any:
        return self._call("GET", self._path, wanted="cannot read its image")

    def _is_in_depots(self, missing: Mapping[str, str]) -> bool:
        found = self._in_depots()
        return all(version_ in found.get(name, ()) for name, version_ in missing.items())

    def _in_depots(self) -> dict[str, set[str]]:
        """{name: versions} of the components in vCenter's depots."""
        depots = self._call("GET", _DEPOTS, wanted="cannot read the depots") or {}
        found: dict[str, set[str]] = {}
        for depot in depots:
            content = self._call("GET", f"{_DEPOTS}/{depot}/content", wanted="cannot read a depot") or {}
            for bundle in [one for many in (content.get("metadata_bundles") or {}).values() for one in many]:
                for name, component in (bundle.get("independent_components") or {}).items():
                    found.setdefault(name, set()).update(one["version"] for one in component["versions"])
        return found

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None, wanted: str = "") -> Any:
        try:
            return self._rest.call(method, path, body)
        except Answered as error:
            raise refused(error, self._label, wanted) from error

    def _task(self, method: str, path: str, body: Mapping[str, Any], step: str) -> Any:
        """The result of a task; waits while vCenter works on the cluster for another host."""
        failure = f"cannot {step}"
        pauses = Pauses(self._rest.clock, self._timeout_s)
        while True:
            try:
                return self._rest.task(method, path, body, self._label, failure, self._timeout_s, self._report(step))
            except Answered as error:
                if error.kind != "NOT_ALLOWED_IN_CURRENT_STATE" or pauses.over:
                    raise refused(error, self._label, failure) from error
            pauses.sleep()

    def _report(self, step: str) -> Callable[[int, str], None]:
        return lambda percent, text: cast("Callable[[str], None]", self._progress)(
            f"{self._label}: {step}: {percent} % {text}".rstrip()
        )


def _versions(components: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: entry["version"] for name, entry in (components or {}).items()}


def _other_changes(
    image: Mapping[str, Any], planned: Mapping[str, Any], requested_one: Mapping[str, str | None]
) -> list[str]:
    """Return the changes of a draft beyond the requested components: other components, and parts such as the ESXi
    release."""
    here, there = _versions(image.get("components")), _versions(planned.get("components"))
    names_of = sorted(name for name in set(here) | set(there) if here.get(name) != there.get(name))
    parts = sorted((set(image) | set(planned)) - {"components"})
    return [name for name in names_of if name not in requested_one] + [
        part for part in parts if _bare(image.get(part)) != _bare(planned.get(part))
    ]


def _bare(part: Any) -> Any:
    """A part of an image without empty values and without details, which are for display."""
    if not isinstance(part, dict):
        return part
    kept = {key: _bare(value) for key, value in part.items() if key != "details"}
    return {key: value for key, value in kept.items() if value not in (None, {}, [])} or None


def _notes(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    notes = result.get("notifications") or {}
    return [entry.get("message") or {} for kind in ("errors", "warnings", "info") for entry in notes.get(kind) or ()]


def _spoken(requested_one: Mapping[str, str | None]) -> str:
    parts = [f"{name} {version}" if version else f"no {name}" for name, version in sorted(requested_one.items())]
    return ", ".join(parts)
