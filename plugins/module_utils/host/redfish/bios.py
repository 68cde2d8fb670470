# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reading and staging the settings of a BIOS over Redfish."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import function_plan
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import registry as registries
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import BiosState, Job
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import segment
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.trouble import FateUnknown
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.session import Bmc
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import System

_WANTED = "cannot read the BIOS settings"
_OPEN_JOBS = ("new", "scheduled", "readyforexecution", "pending", "waiting", "scheduling")
_RUNNING_JOBS = ("running", "downloading", "starting")
# BMCs by AMI have no settings object while nothing is staged, and take a PATCH on it with any ETag.
_NOTHING_STAGED = Answer(404, {}, {"etag": "*"})


@dataclass(frozen=True)
class Reading:
    """A state, and the data for its change."""

    state: BiosState
    settings_path: str
    etag: str | None
    apply_times: tuple[str, ...]
    jobs_path: str | None


class Bios:
    """The BIOS of one server."""

    def __init__(self, bmc: Bmc, system: System, registry_optional: bool) -> None:
        self._bmc = bmc
        self._system = system
        self._registry_optional = registry_optional
        # read sets it before anything uses it.
        self._registry: registries.Registry = None  # type: ignore[assignment]

    @property
    def registry(self) -> registries.Registry:
        return self._registry

    def read(self) -> Reading:
        """A Reading: the active and the staged settings, and the jobs that will apply them."""
        path = (self._system.body.get("Bios") or {}).get("@odata.id")
        if path is None:
            raise self._not_offered("The BMC does not offer the BIOS of this server over Redfish")
        body = self._bmc.get(path, _WANTED).body
        active = body.get("Attributes")
        if not isinstance(active, dict) or not active:
            raise self._not_offered("The BMC returns no BIOS attributes yet")
        if self._registry is None:
            self._registry = self._read_registry(body.get("AttributeRegistry"), active)
        link = (body.get("@Redfish.Settings") or {}).get("SettingsObject") or {}
        if "@odata.id" not in link:
            raise self._not_offered("The BMC returns the BIOS attributes, but no settings object to stage changes in")
        settings = self._settings(link["@odata.id"])
        times = (settings.body.get("@Redfish.SettingsApplyTime") or {}).get("ApplyTime@Redfish.AllowableValues")
        times = times or (body.get("@Redfish.Settings") or {}).get("SupportedApplyTimes") or ()
        jobs_path = self._jobs_path()
        jobs = self._open_jobs(jobs_path)
        state = BiosState(
            attributes=active,
            staged=self._staged(active, settings.body.get("Attributes") or {}),
            scheduled=None if jobs_path is None else bool(jobs),
            jobs=jobs,
            functions=function_plan.status(self._system.vendor, self._registry, active),
        )
        return Reading(state, link["@odata.id"], settings.etag, tuple(times), jobs_path)

    def _settings(self, path: str) -> Answer:
        try:
            return self._bmc.get(path, _WANTED)
        except OperatorError as error:
            if error.data.get("status") != 404:
                raise
            return _NOTHING_STAGED

    def stage(self, reading: Reading, wanted: BiosState, changed: Iterable[str], touch: Callable[[], None]) -> None:
        """Stage the desired state for the next boot; changed are the names of the attributes that differ."""
        values = {name: wanted.next[name] for name in changed}
        etag = reading.etag
        touch()
        if reading.state.jobs:
            etag = self._drop(reading)
            # The BMC drops the staged settings together with their job.
            values = dict(wanted.staged)
        if values:
            self._patch(reading, values, etag)
        if wanted.scheduled and not self._open_jobs(reading.jobs_path):
            self._schedule(reading)

    def _patch(self, reading: Reading, values: Mapping[str, Any], etag: str | None) -> None:
        body = {"Attributes": values}
        # An iDRAC needs an apply time; other BMCs reject the property unless they offer it.
        if reading.jobs_path is not None or "OnReset" in reading.apply_times:
            body["@Redfish.SettingsApplyTime"] = {"ApplyTime": "OnReset"}
        wanted = f"cannot stage {', '.join(sorted(values))} for the next boot"
        try:
            self._bmc.change("PATCH", reading.settings_path, wanted, body, etag)
        except FateUnknown:
            # The proof reads the staged settings and reports.
            return

    def _drop(self, reading: Reading) -> str | None:
        """Cancel the scheduled jobs, so that the BMC accepts new settings."""
        for job in reading.state.jobs:
            self._bmc.change("DELETE", job.path, f"cannot cancel the job {job.name}")
        settings = self._bmc.get(reading.settings_path, _WANTED)
        clear = ((settings.body.get("Actions") or {}).get("Oem") or {}).get("#DellManager.ClearPending") or {}
        left = self._staged(reading.state.attributes, settings.body.get("Attributes") or {})
        if left and clear.get("target"):
            self._bmc.change("POST", clear["target"], "cannot clear the staged BIOS settings", {})
            settings = self._bmc.get(reading.settings_path, _WANTED)
        return settings.etag

    def _schedule(self, reading: Reading) -> None:
        """Newer iDRACs create no job for values that were staged before."""
        body = {"TargetSettingsURI": reading.settings_path}
        wanted = "cannot create a job for the staged BIOS settings"
        try:
            self._bmc.change("POST", cast(str, reading.jobs_path), wanted, body)
        except FateUnknown:
            return

    def _staged(self, active: Mapping[str, Any], pending: Mapping[str, Any]) -> dict[str, Any]:
        """Settings resources list the staged values, or all values: only the differences count."""
        found = {}
        for name, value in pending.items():
            entry = self._registry.attributes.get(name)
            if name in active and value is not None and active[name] != value and not (entry and entry.write_only):
                found[name] = value
        return found

    def _read_registry(self, name: str | None, active: Mapping[str, Any]) -> registries.Registry:
        body = self._registry_body(name) if name else None
        if body is not None:
            return registries.parse(body)
        if self._registry_optional:
            return registries.made_of(active)
        raise OperatorError(
            self._bmc.name,
            "cannot read the registry of BIOS attributes, which is needed to check names and values",
            f"The BMC names the registry {name or 'none'} and does not provide it",
            "Update the BMC's firmware, or set `registry: optional` to leave the checks to the BIOS",
            code="registry_missing",
        )

    def _registry_body(self, name: str) -> dict[str, Any] | None:
        collection = (self._bmc.root().get("Registries") or {}).get("@odata.id")
        if collection is None or self._bmc.look(collection).status == 404:
            return None
        links = self._bmc.links(collection)
        # BMCs have dozens of message registries beside the one for the BIOS.
        links.sort(key=lambda link: "bios" not in segment(link).lower())
        near: list[dict[str, Any]] = []
        for link in links:
            if near and "bios" not in segment(link).lower():
                break
            file = self._bmc.look(link).body
            names = {str(spelled).lower() for spelled in (file.get("Registry"), file.get("Id"), segment(link))}
            if name.lower() in names:
                return self._located(file)
            # iDRACs name v1_0_3 and list v1_0_0; others write 1.0.0, or append .json.
            if _unversioned(name) in map(_unversioned, names):
                near.append(file)
        return self._located(near[0]) if len(near) == 1 else None

    def _located(self, file: dict[str, Any]) -> dict[str, Any] | None:
        if file.get("RegistryEntries"):
            return file
        places = [place for place in file.get("Location") or () if place.get("Uri")]
        places.sort(key=lambda place: not str(place.get("Language", "")).lower().startswith("en"))
        for place in places:
            # iLO 4 and early iLO 5 wrap the path in an object.
            path = place["Uri"].get("extref") if isinstance(place["Uri"], dict) else place["Uri"]
            if not path:
                continue
            answer = self._bmc.look(path)
            if answer.status == 200 and answer.body.get("RegistryEntries"):
                return answer.body
        return None

    def _jobs_path(self) -> str | None:
        """The job queue of an iDRAC; others apply staged settings without a job."""
        if self._system.vendor != "dell":
            return None
        managers = (self._system.body.get("Links") or {}).get("ManagedBy") or ()
        for manager in managers:
            links = self._bmc.get(manager["@odata.id"], _WANTED).body.get("Links") or {}
            path = (((links.get("Oem") or {}).get("Dell") or {}).get("Jobs") or {}).get("@odata.id")
            if path is not None:
                return path
        return None

    def _open_jobs(self, path: str | None) -> tuple[Job, ...]:
        if path is None:
            return ()
        found = []
        for job in self._bmc.members(path):
            state = str(job.get("JobState", "")).lower()
            if job.get("JobType") == "BIOSConfiguration" and state in _OPEN_JOBS + _RUNNING_JOBS:
                found.append(Job(job["@odata.id"], job.get("Id") or segment(job["@odata.id"]), state in _RUNNING_JOBS))
        return tuple(found)

    def _not_offered(self, found: str) -> OperatorError:
        return OperatorError(
            self._bmc.name,
            _WANTED,
            found,
            "Power the server on and wait for the end of its self-test, and check the BMC's firmware and licence",
            code="settings_not_offered",
        )


def _unversioned(name: str) -> str:
    """The name of a registry without its version: BiosAttributeRegistryU46 of BiosAttributeRegistryU46.v1_1_56."""
    return re.sub(r"(\.v?\d+([._]\d+)*)?(\.json)?\Z", "", name.lower())
