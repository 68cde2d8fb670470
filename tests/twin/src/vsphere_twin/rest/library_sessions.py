"""Uploads to items of content libraries and downloads of them, by sessions."""

from __future__ import annotations

import datetime
import hashlib
import urllib.parse

from vsphere_twin.model import content, transfer_sessions
from vsphere_twin.model.transfer_sessions import DOWNLOAD, UPDATE, Transfer

from .api import Created, route
from .errors import RestError, message
from .libraries import find_item
from .stamps import stamp

ITEM = "/api/content/library/item"
# A session lasts at least so long after its last sign of life [unsure: the time]; the twin ends none by itself.
LIFETIME = datetime.timedelta(minutes=5)
WARNINGS = [f"{one}_CERTIFICATE" for one in ("SELF_SIGNED", "EXPIRED", "NOT_YET_VALID", "UNTRUSTED")]
KINDS = {"update-session": UPDATE, "download-session": DOWNLOAD}
# Two paths of the same: since 7.0 Update 2, and of before, which Go clients use.
UPDATES = (f"{ITEM}/update-session/{{session}}/file", f"{ITEM}/updatesession/file/{{session}}")
DOWNLOADS = (f"{ITEM}/download-session/{{session}}/file", f"{ITEM}/downloadsession/file/{{session}}")


@route("POST", f"{ITEM}/update-session")
def create_update(request):
    """A session for uploads to an item of a local library; one at a time."""
    library, item = find_item(request, request.body.get("library_item_id", ""))
    if library.kind != "LOCAL":
        raise RestError("INVALID_ELEMENT_TYPE", f"The library {library.name} is subscribed; its items are read-only.")
    if any(one.item is item and one.state == "ACTIVE" for one in _sessions(request, UPDATE)):
        raise RestError("RESOURCE_BUSY", f"The item {item.name} has another update session.")
    return Created(transfer_sessions.open_session(request.world, UPDATE, library, item).id)


@route("POST", f"{ITEM}/download-session")
def create_download(request):
    """A session for downloads of an item."""
    library, item = find_item(request, request.body.get("library_item_id", ""))
    files = content.files(request.world, item)
    if not files:  # a template, or files of which only the names are known [unsure: the error]
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The item {item.name} has no files for a download.")
    made = transfer_sessions.open_session(request.world, DOWNLOAD, library, item)
    for name, data in files.items():
        made.files[name] = Transfer(name, len(data), _checksum(data), "UNPREPARED", data=data)
    return Created(made.id)


@route("GET", f"{ITEM}/update-session")
def update_sessions(request):
    """The ids of the sessions for uploads."""
    return [one.id for one in _sessions(request, UPDATE)]


@route("GET", f"{ITEM}/download-session")
def download_sessions(request):
    """The ids of the sessions for downloads."""
    return [one.id for one in _sessions(request, DOWNLOAD)]


@route("GET", f"{ITEM}/{{kind}}/{{session}}")
def session_of(request, kind, session):
    """Return one session."""
    found = _session(request, KINDS.get(kind), session)
    shown = {
        "id": found.id,
        "library_item_id": found.item.id,
        "library_item_content_version": str(found.item.version),
        "state": found.state,
        "client_progress": found.progress,
        "expiration_time": stamp(found.used + LIFETIME),
    }
    if found.kind == UPDATE:
        shown["warning_behavior"] = found.warnings
        if found.state == "ACTIVE":
            shown["preview_info"] = _preview(found)
    return shown


@route("PATCH", f"{ITEM}/update-session/{{session}}")
def update_session(request, session):
    """Choose the warnings of the preview that the session ignores; other fields do not change."""
    found, wanted = _active(request, UPDATE, session), request.body.get("warning_behavior")
    if wanted is None:
        return
    if not isinstance(wanted, list) or any(
        not isinstance(one, dict) or one.get("type") not in WARNINGS or not isinstance(one.get("ignored"), bool)
        for one in wanted
    ):
        raise RestError("INVALID_ARGUMENT", f"A warning behavior has ignored, and a type of {', '.join(WARNINGS)}.")
    found.warnings = wanted


@route("DELETE", f"{ITEM}/{{kind}}/{{session}}")
def delete_session(request, kind, session):
    """Delete a session, and with it what was sent and not completed."""
    request.world.libraries.sessions.pop(_session(request, KINDS.get(kind), session).id)


@route("POST", f"{ITEM}/{{kind}}/{{session}}", action="keep-alive")
def keep_alive(request, kind, session):
    """The session lasts, with the progress that the client reports."""
    found = _active(request, KINDS.get(kind), session)
    progress = request.body.get("client_progress")
    if progress is not None and not 0 <= progress <= 100:
        raise RestError("INVALID_ARGUMENT", "The progress is a number from 0 to 100.")
    found.progress, found.used = found.progress if progress is None else progress, transfer_sessions.now()


@route("POST", f"{ITEM}/{{kind}}/{{session}}", action="cancel")
def cancel(request, kind, session):
    """Nothing of the session remains."""
    _active(request, KINDS.get(kind), session).give_up("CANCELED")


@route("POST", f"{ITEM}/{{kind}}/{{session}}", action="fail")
def fail(request, kind, session):
    """The client gives up."""
    _active(request, KINDS.get(kind), session).give_up("ERROR")


@route("POST", f"{ITEM}/update-session/{{session}}", action="complete")
def complete(request, session):
    """The item gets the files, all or none."""
    found = _active(request, UPDATE, session)
    for file in found.files.values():
        if file.status != "READY":
            raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", file.message or f"The file {file.name} was not uploaded.")
    missing, wrong = _problems(found)
    texts = [*(f"The file {name} is missing." for name in missing), *(f"{name}: {one}" for name, one in wrong.items())]
    if texts:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", *texts)
    found.item.content, found.item.files, found.item.bytes = found.content(), None, None
    found.item.version += 1
    found.state = "DONE"


@route("POST", UPDATES[1], action="validate")
@route("POST", UPDATES[0], action="validate")
def validate(request, session):
    """Return the files that are missing, and the invalid ones."""
    missing, wrong = _problems(_active(request, UPDATE, session))
    invalid = [{"name": name, "error_message": message(text)} for name, text in wrong.items()]
    return {"has_errors": bool(missing or wrong), "missing_files": missing, "invalid_files": invalid}


@route("POST", UPDATES[0])
@route("POST", UPDATES[1], action="add")
def add_file(request, session):
    """Announce a file: the client uploads it to the address in the answer."""
    found, body = _active(request, UPDATE, session), request.body
    name, size, checksum = body.get("name"), body.get("size"), body.get("checksum_info") or {}
    if not isinstance(name, str) or not transfer_sessions.plain_name(name):
        raise RestError("INVALID_ARGUMENT", f"{name!r} is not the name of a file.")
    if name in found.files:
        raise RestError("ALREADY_EXISTS", f"The session has a file {name}.")
    if body.get("source_type") == "PULL":
        raise RestError("RESOURCE_INACCESSIBLE", "The twin fetches no files; it reaches no network.")
    if body.get("source_type") != "PUSH":
        raise RestError("INVALID_ARGUMENT", "The source_type of a file is PUSH or PULL.")
    if size is not None and size < 0:
        raise RestError("INVALID_ARGUMENT", "The size of a file is a number of bytes.")
    if size is not None and size > found.in_library.store.free:
        raise RestError("UNABLE_TO_ALLOCATE_RESOURCE", "The datastore of the library has not enough free space.")
    if not isinstance(checksum.get("checksum") or "", str):
        raise RestError("INVALID_ARGUMENT", "The checksum of a file is a text.")
    if str(checksum.get("algorithm") or "SHA1").upper() not in transfer_sessions.ALGORITHMS:
        raise RestError("INVALID_ARGUMENT", f"The algorithm is one of {', '.join(transfer_sessions.ALGORITHMS)}.")
    found.files[name] = Transfer(name, size, checksum)
    return _shown(request, found, found.files[name])


@route("POST", UPDATES[1], action="remove")
def remove_file(request, session):
    """Take a file out of a session."""
    found = _active(request, UPDATE, session)
    del found.files[_file(found, request.body.get("file_name")).name]


@route("POST", f"{ITEM}/updatesession/file", action="probe")
def probe(request):
    """The twin reaches no other host."""
    return {"status": "HOST_NOT_FOUND", "error_messages": [message("The twin reaches no network.")]}


@route("GET", f"{ITEM}/updatesession/file")
@route("GET", f"{ITEM}/downloadsession/file")
def files_before(request):
    """The files of a session, by its id in the query."""
    kind = UPDATE if "update_session_id" in request.query else DOWNLOAD
    found = _session(request, kind, request.query.get(f"{kind}_session_id", ""))
    return [_shown(request, found, file) for file in found.files.values()]


@route("GET", UPDATES[0])
def update_files(request, session):
    """The files of a session for uploads."""
    found = _session(request, UPDATE, session)
    return [_shown(request, found, file) for file in found.files.values()]


@route("GET", DOWNLOADS[0])
def download_files(request, session):
    """The files of a session for downloads."""
    found = _session(request, DOWNLOAD, session)
    return [_shown(request, found, file) for file in found.files.values()]


@route("POST", UPDATES[1], action="get")
def update_file(request, session):
    """Return one file of a session for uploads."""
    found = _session(request, UPDATE, session)
    return _shown(request, found, _file(found, request.body.get("file_name")))


@route("POST", DOWNLOADS[1], action="get")
def download_file(request, session):
    """Return one file of a session for downloads."""
    found = _session(request, DOWNLOAD, session)
    return _shown(request, found, _file(found, request.body.get("file_name")))


@route("POST", DOWNLOADS[1], action="prepare")
@route("POST", DOWNLOADS[0], action="prepare")
def prepare(request, session):
    """Prepare a file for its download; the answer to a later request has its address."""
    found = _active(request, DOWNLOAD, session)
    file = _file(found, request.body.get("file_name"))
    answer = {**_shown(request, found, file), "status": "PREPARE_REQUESTED"}
    file.status = "PREPARED"
    return answer


def _shown(request, session, file):
    address = f"https://{request.host}/cls/data/{session.id}/{urllib.parse.quote(file.name)}"
    shown = {"name": file.name, "size": file.size, "status": file.status, "bytes_transferred": len(file.data or b"")}
    if session.kind == UPDATE:
        shown.update(source_type="PUSH", upload_endpoint={"uri": address})
    elif file.status == "PREPARED":
        shown["download_endpoint"] = {"uri": address}
    if session.kind == DOWNLOAD:
        shown["bytes_transferred"] = 0
    if file.checksum:
        shown["checksum_info"] = file.checksum
    if file.message:
        shown["error_message"] = message(file.message)
    return {name: value for name, value in shown.items() if value is not None}


def _preview(session):
    """The preview of the files: of the descriptor of an OVF, without warnings since no certificate is checked."""
    if session.item.kind != "ovf":
        # Clients wait for this state before they complete the session [unsure: that it is set before].
        return {"state": "NOT_APPLICABLE" if session.files else "UNAVAILABLE"}
    known = [one for name, one in session.files.items() if name.casefold().endswith((".ovf", ".ova"))]
    if not known:
        return {"state": "UNAVAILABLE"}
    if any(one.status != "READY" for one in known):
        return {"state": "PREPARING"}
    return {"state": "AVAILABLE", "warnings": []}


def _problems(session):
    """What is missing and wrong in the files of an OVF; other items have any files."""
    if session.item.kind != "ovf":
        return [], {}
    try:
        return transfer_sessions.problems(session.content())
    except ValueError as problem:
        return [], {next(name for name in session.files if name.casefold().endswith(".ova")): str(problem)}


def _checksum(data):
    return {"algorithm": "SHA1", "checksum": hashlib.sha1(data, usedforsecurity=False).hexdigest()}


def _sessions(request, kind):
    return [one for one in request.world.libraries.sessions.values() if one.kind == kind]


def _session(request, kind, name):
    found = request.world.libraries.sessions.get(name)
    if found is None or found.kind != kind:
        raise RestError("NOT_FOUND", f"The session with id {name} does not exist.")
    return found


def _active(request, kind, name):
    found = _session(request, kind, name)
    if found.state != "ACTIVE":
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"The session is {found.state}.")
    return found


def _file(session, name):
    if name not in session.files:
        raise RestError("NOT_FOUND", f"The session has no file {name}.")
    return session.files[name]
