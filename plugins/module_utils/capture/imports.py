# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Data of other tools as sources of a capture: govc, Redfish mockups, snapshots of Batfish, bundles of vm-support."""

from __future__ import annotations

import datetime
import json
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import (
    add,
    govc,
    redfish,
    redfish_tree,
    trouble,
    vm_support,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

    Maker = Callable[[Table], Addition]

_LARGEST = 64 * 1024 * 1024
_MOST_FILES = 200_000
_INDEX = "index.json"
_HOSTNAME = re.compile(
    r"^\s*(?:hostname|switchname|set system host-name|nv set system hostname)\s+\"?([\w.-]+)", re.MULTILINE
)
# What vm-support adds to the name of a host: esx-NAME-2026-03-01--08.15-2100123.tgz.
_BUNDLE = re.compile(r"^esx-|-\d{4}-\d\d-\d\d--\d\d\.\d\d.*$|\.t(?:ar\.)?gz$")
_NOT_SHOWN = "not read: a snapshot has the configuration alone"


def bring(dest: str, folders: Sequence[str], keep_names: bool) -> Sequence[Addition]:
    """Add everything in these folders that a capture can hold. Other files are left alone."""
    makers: list[Maker] = []
    taken = set(Capture(dest).files) if os.path.exists(dest) else set()
    for folder in folders:
        try:
            found = list(_makers(folder, keep_names, taken))
        except OSError as error:
            raise trouble.unread(folder, error, trouble.FOLDER) from error
        if not found:
            raise OperatorError(
                folder,
                "cannot import the folder",
                "It has no files of `govc object.save`, no Redfish mockup, no `configs` of a Batfish snapshot and no "
                "`commands` of a vm-support bundle.",
                "Use the folder that one of these tools wrote",
                "capture_import_empty",
            )
        makers += found
    has_objects = any(name.startswith(govc.FOLDERS) for name in taken)
    if has_objects and any(maker.__name__ == "objects" for maker in makers):
        raise OperatorError(
            dest,
            "cannot import objects of vCenter",
            "The capture has those of another time.",
            "Use another path for the capture",
            "capture_not_written",
        )
    return add.add_all(dest, keep_names, lambda table: [maker(table) for maker in makers])


def _makers(folder: str, keep_names: bool, taken: set[str]) -> Iterator[Maker]:
    """One maker for each source below a folder. All files are read here, so that an error changes nothing."""
    names = 0
    if os.path.isfile(folder):
        yield from _archive(folder, keep_names, taken)
        return
    for place, inner, files in os.walk(folder, onerror=_unreadable):
        inner[:] = sorted(name for name in inner if not os.path.islink(os.path.join(place, name)))
        names += len(files)
        if names > _MOST_FILES:
            raise OperatorError(
                folder, "cannot import the folder", f"It has more than {_MOST_FILES} files.", "", "capture_import_empty"
            )
        if any(govc.FILE.fullmatch(name) for name in files):
            yield _objects(place, sorted(files), list(inner), keep_names)
            inner[:] = []
        elif _INDEX in files and (_is_root(place) or os.path.basename(place) == "v1"):
            short = os.path.basename(os.path.dirname(place)) != "redfish"
            yield _mockup(place, place if short else os.path.dirname(os.path.dirname(place)), keep_names)
            inner[:] = []
        elif vm_support.is_bundle(place, files):
            bundle = vm_support.of_files(files, lambda name, inside=place: _text(os.path.join(inside, name)))  # type: ignore[misc]
            yield _support(bundle, os.path.dirname(os.path.abspath(place)), keep_names, taken)
            inner[:] = []
        elif os.path.basename(place) == "configs" and files:
            for name in sorted(files):
                text = _text(os.path.join(place, name))
                if text is not None and "\0" not in text:
                    yield _config(name, text, keep_names)


def _archive(path: str, keep_names: bool, taken: set[str]) -> Iterator[Maker]:
    try:
        found = vm_support.of_archive(path, _LARGEST)
    except trouble.ARCHIVE as error:
        raise trouble.unpacked(path, error) from error
    if found is not None:
        yield _support(found, path, keep_names, taken)


def _support(bundle: vm_support.Bundle, place: str, keep_names: bool, taken: set[str]) -> Maker:
    """A bundle of vm-support; without `uname -a`, the host has the name of the bundle."""
    if not bundle.host:
        bundle.host = _BUNDLE.sub("", os.path.basename(place))

    def support(table: Table) -> Addition:
        return vm_support.addition(bundle, taken, table, keep_names)

    return support


def _unreadable(error: OSError) -> None:
    raise error


def _objects(place: str, files: list[str], inner: list[str], keep_names: bool) -> Maker:
    saved = govc.Saved()
    for name in files:
        match = govc.FILE.fullmatch(name)
        if match:
            _parsed(place, name, saved, _object(saved, match["kind"], match["moid"]), "ObjectContent")
    for name in inner:
        match = govc.FOLDER.fullmatch(name)
        for answer in sorted(os.listdir(os.path.join(place, name))) if match else ():
            method, ending = os.path.splitext(answer)
            if match and ending == ".xml" and re.fullmatch(r"[A-Za-z]\w{1,60}", method):
                put = _answer(saved, match["kind"], match["moid"], method)
                # GOV: versions of 2020 named the root after the method.
                _parsed(os.path.join(place, name), answer, saved, put, "MethodResponse", f"{method}Response")

    def objects(table: Table) -> Addition:
        return govc.addition(saved, table, keep_names)

    return objects


def _object(saved: govc.Saved, kind: str, moid: str) -> Callable[[Any], None]:
    def put(node: Any) -> None:
        own = node.find("obj")
        # The name of a file escapes signs; the element has the identifier itself.
        found = (own.get("type") or kind, (own.text or moid).strip()) if own is not None else (kind, moid)
        saved.objects[found] = node

    return put


def _answer(saved: govc.Saved, kind: str, moid: str, method: str) -> Callable[[Any], None]:
    def put(node: Any) -> None:
        saved.answers[kind, moid, method] = node

    return put


def _parsed(place: str, name: str, saved: govc.Saved, put: Callable[[Any], None], *roots: str) -> None:
    text = _text(os.path.join(place, name))
    label = re.sub(r"^\d+-", "", os.path.splitext(name)[0])
    if text is None:
        saved.unusable[label] = "not read: it is no text, or too large"
        return
    try:
        put(govc.parse(text, *roots))
    except govc.Unusable as error:
        saved.unusable[label] = f"not read: {error}"


def _mockup(place: str, top: str, keep_names: bool) -> Maker:
    """A mockup with the folder redfish/v1, or in the short form without it."""
    index = {}
    for inner, _folders, files in os.walk(place):
        if _INDEX in files:
            below = os.path.relpath(inner, place).replace(os.sep, "/")
            index[redfish_tree.ROOT if below == "." else f"{redfish_tree.ROOT}/{below}".casefold()] = inner

    def get(path: str) -> redfish_tree.Found:
        inner = index.get(path.partition("?")[0].rstrip("/").casefold())
        if inner is None:
            return None, "not read: no file in the imported mockup"
        try:
            body = json.loads(_text(os.path.join(inner, _INDEX)) or "")
        except (ValueError, RecursionError):
            return None, "not read: the file is not JSON"
        return (body, "") if isinstance(body, dict) else (None, "not read: the file is no resource")

    tree = redfish_tree.walk(get)
    # The files have no time of their own.
    tree.times.clear()
    name = os.path.basename(os.path.abspath(top))

    def bmc(table: Table) -> Addition:
        return redfish.addition(tree, name, table, keep_names)

    return bmc


def _config(name: str, text: str, keep_names: bool) -> Maker:
    stem = os.path.splitext(name)[0]
    hostname = _HOSTNAME.search(text)

    def config(table: Table) -> Addition:
        own = table.learn("switch", hostname[1] if hostname else stem)
        table.known.setdefault(stem.lower(), own)
        scrub = Scrubber(table, keep_names)
        source, path = f"switch {own}", f"snapshot/configs/{own}.cfg"
        made = Addition(source, (path,), texts=scrub.counts, dropped=scrub.dropped)
        made.files[path] = SwitchText(scrub, [], []).output(text)
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        read = {"answered": True, "refused": {}, "time": None, "imported": now}
        made.coverage[f"{source}/configuration"] = read
        made.coverage[f"{source}/state"] = {**read, "answered": False, "refused": {"": _NOT_SHOWN}}
        return made

    return config


def _is_root(place: str) -> bool:
    text = _text(os.path.join(place, _INDEX))
    return text is not None and '"RedfishVersion"' in text


def _text(path: str) -> str | None:
    """The content of a text file of a bounded size; None for another file."""
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
        return None
    with open(path, "rb") as file:
        data = file.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
