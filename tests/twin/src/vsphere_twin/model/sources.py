"""VIB sources of the installer: paths on the host, and messages on unusable ones."""

from __future__ import annotations

from . import depot, files
from . import vib as vibs

SEE_LOG = "Please refer to the log file for more details."
# Working directory of the installer, for relative paths.
WORKING_DIRECTORY = "/var/log/vmware/"


class Refused(Exception):
    """The installer's refusal: the kind that it prints in brackets, and its text."""

    def __init__(self, kind, text):
        self.kind = kind
        self.text = text
        super().__init__(f"[{kind}]\n {text}\n {SEE_LOG}")

    @property
    def lines(self):
        return [f"[{self.kind}]", *(line.strip() for line in self.text.splitlines()), SEE_LOG]


def bundle(host, path, kind):
    """Return the content of a path on the host as a bundle: a depot zip or, with kind vib, a single VIB."""
    if kind == "vib":
        return _single(host, path)
    if "://" in path:
        raise Refused("ValueError", "Only server local file path is supported for offline bundles.")
    full = path if path.startswith("/") else WORKING_DIRECTORY + path
    data = files.read(host, full)
    if data is None:
        raise _no_metadata(full, f"[Errno 2] No such file or directory: '{full}'")
    try:
        return depot.read(data)
    except depot.BadDepot as problem:
        raise _no_metadata(full, str(problem)) from problem


def _single(host, path):
    if "://" in path:
        # esxcli takes VIBs from web servers; the twin's hosts reach none.
        raise Refused("VibDownloadError", f"('{path}', '', '<urlopen error [Errno 113] No route to host>')")
    full = path if path.startswith("/") else WORKING_DIRECTORY + path
    data = files.read(host, full)
    if data is None:
        raise Refused("VibDownloadError", f"('{full}', '', \"[Errno 2] No such file or directory: '{full}'\")")
    try:
        return depot.Bundle((vibs.read(data),), ())
    except vibs.BadVib as problem:
        raise Refused("VibFormatError", f"('{full}', 'Could not open VIB: {problem}')") from problem


def _no_metadata(path, reason):
    url = f"zip:{path}?index.xml"
    return Refused(
        "MetadataDownloadError",
        f"Could not download from depot at {url}, skipping "
        f"(('{url}', '', \"Error extracting index.xml from {path}: {reason}\"))\n        url = {url}",
    )
