# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Data of other tools as sources of a capture: govc, Redfish mockups, snapshots of Batfish, bundles of vm-support."""

from __future__ import annotations

import codecs
import itertools
import json
import os
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import (
    add,
    bundle,
    govc,
    redfish,
    redfish_tree,
    snapshots,
    trouble,
    vm_support,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

    Maker = Callable[[Table], Addition]

_LARGEST = 64 * 1024 * 1024
_MOST_FILES = 200_000
_INDEX = "index.json"
# What vm-support adds to the name of a host: esx-NAME-2026-03-01--08.15-2100123.tgz.
_BUNDLE = re.compile(r"^esx-|-\d{4}-\d\d-\d\d--\d\d\.\d\d.*$|\.t(?:ar\.)?gz$")


def bring(dest: str, folders: Sequence[str], keep_names: bool) -> Sequence[Addition]:
    """Add everything in these folders that a capture can hold. Other files are left alone."""
    makers: list[Maker] = []
    taken = set(Capture(dest).files) if os.path.exists(dest) else set()
    switches: set[str] = set()
    for folder in folders:
        try:
            found = list(_makers(folder, keep_names, taken, switches))
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
    if sum(maker.__name__ == "objects" for maker in makers) > 1:
        raise OperatorError(
            dest,
            "cannot import objects of vCenter",
            "The folders have the objects of two vCenters, or of one vCenter at two times.",
            "Import each folder of `govc object.save` into a capture of its own, with --out",
            "capture_not_written",
        )
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


def _makers(folder: str, keep_names: bool, taken: set[str], switches: set[str]) -> Iterator[Maker]:
    """One maker for each source below a folder. All files are read here, so that an error changes nothing."""
    names = 0
    if os.path.isfile(folder):
        yield from _archive(folder, keep_names, taken, switches)
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
        elif _is_mockup(place, inner, files):
            short = os.path.basename(os.path.dirname(place)) != "redfish"
            yield _mockup(place, place if short else os.path.dirname(os.path.dirname(place)), keep_names)
            inner[:] = []
        elif vm_support.is_bundle(place, files):
            found = vm_support.of_files(files, lambda name, inside=place: _text(os.path.join(inside, name)))  # type: ignore[misc]
            yield _support(found, os.path.dirname(os.path.abspath(place)), keep_names, taken)
            inner[:] = []
        elif os.path.basename(place) == snapshots.FOLDER and (configs := _configs(place)):
            texts = {name: _text(os.path.join(place, name)) for name in configs}
            inner[:] = []
            beside = sorted(os.listdir(os.path.dirname(os.path.abspath(place))))
            name = os.path.join(os.path.basename(os.path.abspath(folder)), os.path.relpath(place, folder))
            yield from snapshots.makers(texts, beside, name, keep_names, switches)


def _configs(place: str) -> list[str]:
    """The files of a folder and of the folders in it, such as one for each switch; none if it has other data."""
    walked = [(inner, name) for inner, _folders, files in os.walk(place, onerror=_unreadable) for name in files]
    if any(govc.FILE.fullmatch(name) or name == _INDEX for _inner, name in walked):
        return []
    return sorted(os.path.relpath(os.path.join(inner, name), place) for inner, name in walked)


def _archive(path: str, keep_names: bool, taken: set[str], switches: set[str]) -> Iterator[Maker]:
    """The sources in an archive. Its files are in a private folder until they are read."""
    packed = zipfile.is_zipfile(path)
    with tempfile.TemporaryDirectory(prefix="capture-") as place:
        # A mockup without a name of its own has that of the file.
        name = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.join(place, name if packed else re.sub(r"\.tar$", "", name))
        os.makedirs(folder, exist_ok=True)
        try:
            found = None if packed else vm_support.of_archive(path, _LARGEST)
            if packed:
                _unzip(path, folder)
            elif found is None:
                _untar(path, folder)
        except trouble.ARCHIVE as error:
            raise trouble.unpacked(path, error) from error
        if found is not None:
            yield _support(found, path, keep_names, taken)
        else:
            yield from _makers(folder, keep_names, taken, switches)


def _unzip(path: str, folder: str) -> None:
    """Write the plain files. zipfile never writes outside of the folder and makes no links."""
    with zipfile.ZipFile(path) as archive:
        if bundle.MANIFEST in archive.namelist():
            raise trouble.damaged(path, "It is a capture.", "Use it as --out, or as the input of the other verbs")
        rows = [one for one in archive.infolist() if not one.is_dir()]
        _bounded(path, [(one.filename, one.file_size) for one in rows])
        for one in rows:
            if not stat.S_ISLNK(one.external_attr >> 16):
                archive.extract(one, folder)


def _untar(path: str, folder: str) -> None:
    """Write the plain files, without links. An archive of other data is not unpacked."""
    with tarfile.open(path, "r:*") as archive:
        rows = list(itertools.islice(archive, _MOST_FILES + 1))
        if not any(_is_source(one.name) for one in rows):
            return
        _bounded(path, [(one.name, one.size) for one in rows])
        for one in filter(tarfile.TarInfo.isreg, rows):
            file = archive.extractfile(one)
            place = os.path.join(folder, *filter(None, one.name.split("/")))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if file is not None:
                with open(place, "wb") as made:
                    shutil.copyfileobj(file, made)


def _is_source(name: str) -> bool:
    folder, _slash, file = name.rpartition("/")
    return file == _INDEX or bool(govc.FILE.fullmatch(file)) or snapshots.FOLDER in folder.split("/")


def _bounded(path: str, rows: Sequence[tuple[str, int]]) -> None:
    """Reject names that lead out of the folder, and an archive that unpacks to too much."""
    if any(name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name) for name, _size in rows):
        raise trouble.damaged(path, "It has names of files that lead out of it.", "", trouble.FOLDER)
    if len(rows) > _MOST_FILES or sum(size for _name, size in rows) > bundle.MOST_BYTES:
        raise trouble.damaged(
            path, f"It has more than {_MOST_FILES} files or {bundle.MOST_BYTES} bytes.", "Unpack it", trouble.FOLDER
        )


def _support(found: vm_support.Bundle, place: str, keep_names: bool, taken: set[str]) -> Maker:
    """A bundle of vm-support; without `uname -a`, the host has the name of the bundle."""
    if not found.host:
        found.host = _BUNDLE.sub("", os.path.basename(place))

    def support(table: Table) -> Addition:
        return vm_support.addition(found, taken, table, keep_names)

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
        if found in saved.objects:
            raise govc.Unusable("Another file has the same object: the folder has two saves.")
        saved.objects[found] = node

    return put


def _answer(saved: govc.Saved, kind: str, moid: str, method: str) -> Callable[[Any], None]:
    def put(node: Any) -> None:
        saved.answers[kind, moid, method] = node

    return put


def _parsed(place: str, name: str, saved: govc.Saved, put: Callable[[Any], None], *roots: str) -> None:
    text = _text(os.path.join(place, name))
    # The name of the file without its number is that of the object, unless another file has the same object.
    label = re.sub(r"^\d+-", "", os.path.splitext(name)[0])
    label = os.path.splitext(name)[0] if label in saved.labels else label
    saved.labels.add(label)
    if text is None:
        saved.unusable[label] = "not read: it is no text, or too large"
        return
    try:
        put(govc.parse(text, *roots))
    except govc.Unusable as error:
        saved.unusable[label] = f"not read: {error}"


def _mockup(place: str, top: str, keep_names: bool) -> Maker:
    """A mockup with the folder redfish/v1, or in the short form without it."""
    index, paths = {}, []
    for inner, folders, files in os.walk(place):
        folders.sort()
        if _INDEX in files:
            below = os.path.relpath(inner, place).replace(os.sep, "/")
            paths.append(redfish_tree.ROOT if below == "." else f"{redfish_tree.ROOT}/{below}")
            index[paths[-1].casefold()] = inner

    def get(path: str) -> redfish_tree.Found:
        inner = index.get(path.partition("?")[0].rstrip("/").casefold())
        if inner is None:
            return None, "not read: no file in the imported mockup"
        try:
            body = json.loads(_text(os.path.join(inner, _INDEX)) or "")
        except (ValueError, RecursionError):
            return None, "not read: the file is not JSON"
        return (body, "") if isinstance(body, dict) else (None, "not read: the file is no resource")

    tree = redfish_tree.walk(get, files=paths)
    # The files have no time of their own.
    tree.times.clear()
    name = os.path.basename(os.path.abspath(top))

    def bmc(table: Table) -> Addition:
        return redfish.addition(tree, name, table, keep_names)

    return bmc


def _is_mockup(place: str, folders: Sequence[str], files: Sequence[str]) -> bool:
    """Whether this is the root of a mockup: by its index.json, or by its name. It may lack the file of the root."""
    parent, name = os.path.split(os.path.abspath(place))
    if _INDEX in files:
        return _is_root(place) or name == "v1"
    return (
        name == "v1" and os.path.basename(parent) == "redfish" and bool({"Systems", "Managers"}.intersection(folders))
    )


def _is_root(place: str) -> bool:
    text = _text(os.path.join(place, _INDEX))
    return text is not None and '"RedfishVersion"' in text


def _text(path: str) -> str | None:
    """The content of a text file of a bounded size; None for another file. Without UTF-8, it is UTF-16 or Latin-1."""
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
        return None
    with open(path, "rb") as file:
        data = file.read()
    try:
        # Windows writes UTF-16.
        text = data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError:
        # Each byte is a sign of Latin-1. The texts of a site are replaced all the same.
        text = data.decode("latin-1")
    return None if "\0" in text else text
