# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Resources of a BMC that a capture reads, from a live BMC or from a folder, and no others."""

from __future__ import annotations

import datetime
import json
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Iterator, Optional, Tuple

ROOT = "/redfish/v1"
# Every resource that is read, below /redfish/v1. docs/capture_requests.md lists them. {id} is one part of a path.
RESOURCES = (
    "",
    "Systems",
    "Systems/{id}",
    "Systems/{id}/Bios",
    "Systems/{id}/BootOptions",
    "Systems/{id}/BootOptions/{id}",
    "Systems/{id}/Processors",
    "Systems/{id}/Processors/{id}",
    "Systems/{id}/Memory",
    "Systems/{id}/Memory/{id}",
    "Systems/{id}/PCIeDevices",
    "Systems/{id}/PCIeDevices/{id}",
    "Systems/{id}/PCIeDevices/{id}/PCIeFunctions",
    "Systems/{id}/PCIeDevices/{id}/PCIeFunctions/{id}",
    "Systems/{id}/PCIeFunctions/{id}",
    "Systems/{id}/EthernetInterfaces",
    "Systems/{id}/EthernetInterfaces/{id}",
    "Chassis",
    "Chassis/{id}",
    "Chassis/{id}/NetworkAdapters",
    "Chassis/{id}/NetworkAdapters/{id}",
    "Chassis/{id}/NetworkAdapters/{id}/NetworkPorts",
    "Chassis/{id}/NetworkAdapters/{id}/NetworkPorts/{id}",
    "Chassis/{id}/NetworkAdapters/{id}/Ports",
    "Chassis/{id}/NetworkAdapters/{id}/Ports/{id}",
    "Chassis/{id}/NetworkAdapters/{id}/NetworkDeviceFunctions",
    "Chassis/{id}/NetworkAdapters/{id}/NetworkDeviceFunctions/{id}",
    "Chassis/{id}/PCIeSlots",
    "Chassis/{id}/PCIeDevices",
    "Chassis/{id}/PCIeDevices/{id}",
    "Chassis/{id}/PCIeDevices/{id}/PCIeFunctions",
    "Chassis/{id}/PCIeDevices/{id}/PCIeFunctions/{id}",
    "Managers",
    "Managers/{id}",
    "Managers/{id}/Jobs",
    "Managers/{id}/Jobs/{id}",
    "Managers/{id}/Oem/Dell/Jobs",
    "Managers/{id}/Oem/Dell/Jobs/{id}",
    "TaskService",
    "JobService",
    "JobService/Jobs",
    "JobService/Jobs/{id}",
    "UpdateService",
    "UpdateService/FirmwareInventory",
    "UpdateService/FirmwareInventory/{id}",
    "Registries",
)
# Resources that are read at the address that the BMC names.
BY_LINK = ("pending BIOS settings", "file of the BIOS attribute registry", "BIOS attribute registry")
MOST_RESOURCES = 1500
MOST_BYTES = 64 * 1024 * 1024
MOST_JOBS = 50
_MOST_PAGES = 50
_DEEPEST = 40
_LONGEST_PATH = 300
_FORMS = re.compile(
    "|".join(f"(?:{re.escape(one).replace(re.escape('{id}'), '[^/]+')})" for one in RESOURCES), re.IGNORECASE
)
_PATH = re.compile(r"/redfish/v1(?:/[A-Za-z0-9 $&'()*+,;=:@._~%-]+)*/?", re.IGNORECASE)
_JOBS = re.compile(r"/jobs/[^/]+$", re.IGNORECASE)

# The body of a resource, or None and the reason.
Found = Tuple[Optional[dict], str]


class Gone(Exception):
    """The BMC does not answer any more; str() is the reason."""


@dataclass
class Tree:
    """Resources of one BMC: bodies, refusals and times by path. lost: why the reading ended early."""

    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    lost: str = ""


def walk(get: Callable[[str], Found], system_id: str | None = None, files: Iterable[str] = ()) -> Tree:
    """Read the resources of RESOURCES that a BMC links, each once, within bounds. files: paths that a mockup has."""
    walker = _Walker(get, system_id)
    try:
        walker.run([ROOT])
        # A mockup may lack the resources that link others.
        walker.run(walker.unlinked(files))
        # A BMC has dozens of registries of messages beside the one of the BIOS.
        walker.registries()
    except Gone as error:
        walker.tree.lost = str(error)
    root = walker.tree.bodies.get(ROOT)
    if root is not None and f"{ROOT}/systems" not in map(_key, links(root)):
        walker.tree.refused[f"{ROOT}/Systems"] = "not read: the service root has no link to it"
    return walker.tree


class _Walker:
    def __init__(self, get: Callable[[str], Found], system_id: str | None) -> None:
        self._get = get
        self._system_id = system_id
        self._seen: set[str] = set()
        self._bytes = 0
        self._jobs = 0
        self.tree = Tree()

    def run(self, paths: list[str]) -> None:
        left = deque(paths)
        self._seen.update(_key(path) for path in paths)
        while left:
            body = self._read(left.popleft())
            if body is None:
                continue
            settings = _link(_link(body, "@Redfish.Settings"), "SettingsObject").get("@odata.id")
            for link in [*links(body), *([settings] if isinstance(settings, str) else [])]:
                if _key(link) not in self._seen and is_path(link) and (link == settings or self._wanted(link)):
                    self._seen.add(_key(link))
                    left.append(link)

    def unlinked(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths that are read, and to which no resource had a link."""
        return [one for one in paths if _key(one) not in self._seen and is_path(one) and self._wanted(one)]

    def registries(self) -> None:
        """Read the registry of BIOS attributes that a system names."""
        names = {
            _unversioned(str(body["AttributeRegistry"]))
            for path, body in self.tree.bodies.items()
            if _is_bios(path) and body.get("AttributeRegistry")
        }
        collection = next((body for path, body in self.tree.bodies.items() if _key(path) == f"{ROOT}/registries"), {})
        files = [link for link in links(collection) if is_path(link) and _unversioned(_last(link)) in names]
        for link in files:
            body = self._read(link) or {}
            places = [one for one in _list(body.get("Location")) if isinstance(one, dict) and one.get("Uri")]
            places.sort(key=lambda one: not str(one.get("Language", "")).lower().startswith("en"))
            for place in places[:1]:
                # iLO 4 and early iLO 5 wrap the path in an object.
                uri = place["Uri"].get("extref") if isinstance(place["Uri"], dict) else place["Uri"]
                if isinstance(uri, str) and is_path(uri) and _key(uri) not in map(_key, self.tree.bodies):
                    self._read(uri)

    def _wanted(self, link: str) -> bool:
        below = link[len(ROOT) :].strip("/")
        if not _FORMS.fullmatch(below):
            return False
        parts = below.split("/")
        if self._system_id and parts[0].lower() == "systems" and len(parts) > 1:
            return parts[1].lower() == self._system_id.lower()
        if _JOBS.search(below):
            self._jobs += 1
            return self._jobs <= MOST_JOBS
        return True

    def _read(self, path: str) -> dict[str, Any] | None:
        """A resource with all pages of its members."""
        name = path.rstrip("/")
        if len(self.tree.bodies) >= MOST_RESOURCES or self._bytes > MOST_BYTES:
            self.tree.refused[name] = "The limit of a capture is reached."
            return None
        body = self._ask(path, name)
        page, pages = body, 0
        while body is not None and page is not None:
            following = page.get("Members@odata.nextLink") or page.get("@odata.nextLink")
            plain = following.partition("?")[0] if isinstance(following, str) else ""
            pages += 1
            if not plain or _key(plain) != _key(path) or _key(str(following)) in self._seen or pages > _MOST_PAGES:
                break
            self._seen.add(_key(str(following)))
            page = self._ask(str(following), f"{name} (page {pages + 1})", keep=False)
            if page is not None:
                body["Members"] = [*_list(body.get("Members")), *_list(page.get("Members"))]
        if body is not None:
            body.pop("Members@odata.nextLink", None)
        return body

    def _ask(self, path: str, name: str, keep: bool = True) -> dict[str, Any] | None:
        time = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        body, refusal = self._get(path)
        try:
            size = len(json.dumps(body))
        except (ValueError, RecursionError):
            body, size, refusal = None, 0, "The answer is nested too deeply."
        self._bytes += size
        if body is None:
            self.tree.refused[name] = refusal
            self.tree.times[name] = time
        elif keep:
            self.tree.bodies[name] = body
            self.tree.times[name] = time
        return body


def links(value: Any, depth: int = 0) -> Iterator[str]:
    """The paths of other resources in a body."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        link = value.get("@odata.id")
        if isinstance(link, str):
            yield link.partition("#")[0]
        for one in value.values():
            yield from links(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from links(one, depth + 1)


def is_path(link: str) -> bool:
    """Whether a link is a plain path below /redfish/v1."""
    return len(link) <= _LONGEST_PATH and bool(_PATH.fullmatch(link)) and "/.." not in link and "/./" not in link


def _is_bios(path: str) -> bool:
    return bool(re.fullmatch(rf"{ROOT}/systems/[^/]+/bios", path, re.IGNORECASE))


def _key(path: str) -> str:
    return path.rstrip("/").casefold()


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _link(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _unversioned(name: str) -> str:
    """The name of a registry without its version: BiosAttributeRegistryU46 of BiosAttributeRegistryU46.v1_1_56."""
    return re.sub(r"(\.v?\d+([._]\d+)*)?(\.json)?\Z", "", name.lower())
