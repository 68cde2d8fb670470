# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Copy the folder of a run, and its journal, to a target: a directory, a WebDAV server or an S3 bucket."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

WEBDAV, S3 = ("http", "https"), "s3"
HERE = ("localhost", "127.0.0.1", "::1")
# Folders below that of the results which have runs of their own. restore and drift read the others.
ABOVE_RUNS = ("drift",)
# Seconds without an answer.
SILENT_S = 60
CREATED, EXISTS = (200, 201, 204), 405
# boto3 reads the address of a server other than Amazon's from them.
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_LOGIN = "The server rejected the login. Set AIREADY_RESULTS_USER and AIREADY_RESULTS_PASSWORD."
S3_CAUSES = {
    "NoSuchBucket": "The bucket does not exist. Create it, or correct aiready_results_target.",
    "AccessDenied": "The user has no right to write there. Give it the right s3:PutObject.",
    "InvalidAccessKeyId": _LOGIN,
    "SignatureDoesNotMatch": _LOGIN,
}


class PushFailed(Exception):
    """The results are not at the target. The text has the cause and the fix."""


@dataclass(frozen=True)
class Target:
    """A target with its login."""

    address: str
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def is_webdav(self) -> bool:
        return urlsplit(self.address).scheme in WEBDAV

    @property
    def is_s3(self) -> bool:
        return urlsplit(self.address).scheme == S3


def push(folder: str, target: Target, journals: Mapping[str, str] | None = None) -> str:
    """Copy a file, or all files of the folder of a run, and return their new address.

    journals: {path below the target: file}.
    """
    _check(target)
    if not os.path.exists(folder):
        raise PushFailed(f"Cannot read {folder}. It does not exist.")
    name = _name(os.path.abspath(folder))
    found = {name: folder} if os.path.isfile(folder) else {}
    # The journal first: restore needs it, and the server may reject a later file.
    files = {**(journals or {}), **found}
    files.update({os.path.join(name, path): os.path.join(folder, path) for path in _files(folder)})
    if target.is_s3:
        _to_s3(files, target)
        return f"{target.address.rstrip('/')}/{name}"
    if target.is_webdav:
        _to_webdav(files, target)
        return f"{target.address.rstrip('/')}/{quote(name)}"
    _to_directory(files, target.address)
    return os.path.join(target.address, name)


def _name(folder: str) -> str:
    """The path of the folder below the target, as below the folder of results."""
    above, name = os.path.split(folder)
    above = os.path.basename(above)
    return os.path.join(above, name) if above in ABOVE_RUNS else name


def journals_of(folder: str, runs: Iterable[str]) -> dict[str, str]:
    """The journal of these names of a run, at the path below the target that it has below a folder of results."""
    place = os.path.basename(os.path.normpath(folder)) if folder else ""
    paths = {os.path.join("journal", place, f"{run}.jsonl"): os.path.join(folder, f"{run}.jsonl") for run in runs}
    return {path: file for path, file in paths.items() if place and os.path.isfile(file)}


def _check(target: Target) -> None:
    try:
        parts = urlsplit(target.address)
        host, username = parts.hostname, parts.username
    except ValueError as error:
        raise PushFailed(f"The address is invalid: {error}. Correct aiready_results_target.") from None
    if username is not None:
        raise PushFailed(
            "The address contains a login. Remove it from aiready_results_target, and set AIREADY_RESULTS_USER and "
            "AIREADY_RESULTS_PASSWORD."
        )
    if parts.scheme not in (*WEBDAV, S3, "") or (not parts.scheme and not os.path.isabs(target.address)):
        raise PushFailed(
            "The address is neither an absolute path nor an https address of a WebDAV server nor s3://BUCKET/PREFIX. "
            "Correct aiready_results_target."
        )
    if parts.scheme == S3 and not host:
        raise PushFailed("The address has no bucket. Correct aiready_results_target.")
    if parts.scheme in WEBDAV and not host:
        raise PushFailed("The address has no host. Correct aiready_results_target.")
    if parts.scheme == "http" and target.password and host not in HERE:
        raise PushFailed("The password would be sent without encryption. Use an https address.")


def _files(folder: str) -> Iterator[str]:
    """The relative paths of all files, without links: a link may lead out of the folder."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                yield os.path.relpath(path, folder)


def _to_directory(files: Mapping[str, str], target: str) -> None:
    if not os.path.isdir(target):
        raise PushFailed(f"The directory {target} does not exist. Create or mount it.")
    try:
        for path, file in files.items():
            made = os.path.join(target, path)
            if os.path.realpath(made) != os.path.realpath(file):
                os.makedirs(os.path.dirname(made), exist_ok=True)
                # A log that only its owner may read stays so.
                shutil.copy(file, made)
    except OSError as error:
        raise PushFailed(f"{error.strerror or error}. Check the rights and the free space of {target}.") from None


def _to_webdav(files: Mapping[str, str], target: Target) -> None:
    try:
        requests = importlib.import_module("requests")
    except ImportError:
        raise PushFailed(
            "The Python library requests is not installed. Install it where Ansible runs, or add it to the execution "
            "environment."
        ) from None
    above = target.address.rstrip("/")
    with requests.Session() as session:
        if target.user:
            session.auth = (target.user.encode(), target.password.encode())
        try:
            for collection in _collections(files):
                # nginx rejects a collection without the last slash, and Apache redirects one that exists.
                made = session.request("MKCOL", f"{above}/{collection}/", timeout=SILENT_S, allow_redirects=False)
                _done(made, (*CREATED, EXISTS))
            for path, file in files.items():
                with open(file, "rb") as content:
                    sent = session.put(f"{above}/{quote(path)}", data=content, timeout=SILENT_S, allow_redirects=False)
                    _done(sent, CREATED)
        except requests.exceptions.SSLError:
            raise PushFailed(
                "The certificate of the server is not trusted. Set REQUESTS_CA_BUNDLE to the file of its certificate "
                "authority."
            ) from None
        except requests.exceptions.RequestException as error:
            raise PushFailed(f"The server did not answer: {type(error).__name__}. Check the address.") from None
        except OSError as error:
            raise _unread(error) from None


def _to_s3(files: Mapping[str, str], target: Target) -> None:
    try:
        boto3, config = importlib.import_module("boto3"), importlib.import_module("botocore.config")
        exceptions = importlib.import_module("botocore.exceptions")
    except ImportError:
        raise PushFailed(
            "The Python library boto3 is not installed. Install it where Ansible runs, or add it to the execution "
            "environment."
        ) from None
    parts = urlsplit(target.address)
    above = parts.path.strip("/")
    own = {"aws_access_key_id": target.user, "aws_secret_access_key": target.password} if target.user else {}
    try:
        client = boto3.client(
            S3,
            **own,
            verify=os.environ.get("AWS_CA_BUNDLE") or os.environ.get("REQUESTS_CA_BUNDLE") or None,
            config=config.Config(
                connect_timeout=SILENT_S,
                read_timeout=SILENT_S,
                # Servers other than Amazon's may know neither names of buckets in host names nor new checksums.
                s3={"addressing_style": "path" if any(os.environ.get(name) for name in ENDPOINTS) else "auto"},
                request_checksum_calculation="when_required",
                retries={"total_max_attempts": 2},
            ),
        )
        for path, file in files.items():
            with open(file, "rb") as content:
                key = "/".join(part for part in (above, *path.split(os.sep)) if part)
                client.put_object(Bucket=parts.netloc, Key=key, Body=content, ContentMD5=_md5(content))
    except TypeError:
        raise PushFailed("The Python library boto3 is older than 1.36. Update it where Ansible runs.") from None
    except exceptions.ClientError as error:
        code = error.response["Error"]["Code"]
        raise PushFailed(S3_CAUSES.get(code, f"The server answered {code}. Check its log.")) from None
    except exceptions.SSLError:
        raise PushFailed(
            "The certificate of the server is not trusted. Set AWS_CA_BUNDLE to the file of its certificate authority."
        ) from None
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
        raise PushFailed(
            "There is no login. Set AIREADY_RESULTS_USER to the ID of the access key and AIREADY_RESULTS_PASSWORD to "
            "its secret, or use AWX's credential type Amazon Web Services."
        ) from None
    except exceptions.ParamValidationError:
        raise PushFailed("The name of the bucket is invalid. Correct aiready_results_target.") from None
    except (exceptions.BotoCoreError, ValueError) as error:
        raise PushFailed(
            f"The server did not answer: {type(error).__name__}. Check the bucket and AWS_ENDPOINT_URL_S3."
        ) from None
    except OSError as error:
        raise _unread(error) from None


def _md5(content: BinaryIO) -> str:
    """The checksum of a file. A bucket with an object lock requires it, and every S3 server knows it."""
    # Runs on the controller only, whose Python is newer than 3.8.
    digest = hashlib.md5(usedforsecurity=False)  # novermin
    while part := content.read(1 << 20):
        digest.update(part)
    content.seek(0)
    return base64.b64encode(digest.digest()).decode()


def _unread(error: OSError) -> PushFailed:
    where = f" {error.filename}" if error.filename else ""
    return PushFailed(f"Cannot read a file{where}: {error.strerror or error}.")


def _collections(files: Iterable[str]) -> list[str]:
    """The collections that the paths of files need, each after the one above it."""
    found: set[str] = set()
    for path in files:
        parts = path.split(os.sep)[:-1]
        found.update("/".join(map(quote, parts[: number + 1])) for number in range(len(parts)))
    return sorted(found)


def _done(answer: Any, good: tuple[int, ...]) -> None:
    code = answer.status_code
    if code in good:
        return
    cause = {
        401: _LOGIN,
        403: "The user has no right to write there. Give it the right, or name another collection.",
        409: "The collection above it does not exist. Create it, or correct aiready_results_target.",
        507: "The server has no space. Delete old results there.",
    }
    if 300 <= code < 400:
        raise PushFailed("The server redirects to another address. Name that address in aiready_results_target.")
    raise PushFailed(cause.get(code, f"The server answered {code} to {answer.request.method}. Check its log."))
