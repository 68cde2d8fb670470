"""Debian packages and flat repositories of them, written without Debian's tools; signatures are made by gpg."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path

EPOCH = 1_700_000_000
OWNER = "The lab <lab@lab.example>"


class NoSignature(Exception):
    """gpg is missing or failed."""


@dataclass(frozen=True)
class Package:
    """A Debian package: its metadata and its files."""

    name: str
    version: str
    summary: str
    architecture: str = "amd64"
    fields: dict = field(default_factory=dict)  # Depends, Conflicts, ...
    files: dict = field(default_factory=dict)  # path: (bytes, mode), or the target of a link as a text
    scripts: dict = field(default_factory=dict)  # postinst, prerm, ...: text
    conffiles: tuple = ()

    @property
    def file_name(self):
        version = self.version.partition(":")[2] or self.version
        return f"{self.name}_{version}_{self.architecture}.deb"

    def control(self, size=0):
        rows = {
            "Package": self.name,
            "Version": self.version,
            "Architecture": self.architecture,
            "Maintainer": OWNER,
            "Installed-Size": str(size // 1024 or 1),
            "Section": "misc",
            "Priority": "optional",
            **self.fields,
            "Description": self.summary,
        }
        return "".join(f"{key}: {value}\n" for key, value in rows.items())


def write(package):
    """The bytes of the package's file; the same package gives the same bytes."""
    size = sum(len(one[0]) for one in package.files.values() if not isinstance(one, str))
    meta = {"./control": (package.control(size).encode(), 0o644)}
    meta.update({f"./{name}": (text.encode(), 0o755) for name, text in package.scripts.items()})
    if package.conffiles:
        meta["./conffiles"] = ("".join(f"{one}\n" for one in package.conffiles).encode(), 0o644)
    sums = [
        f"{hashlib.md5(one[0], usedforsecurity=False).hexdigest()}  {path.lstrip('/')}\n"
        for path, one in sorted(package.files.items())
        if not isinstance(one, str)
    ]
    meta["./md5sums"] = ("".join(sums).encode(), 0o644)
    data = {f".{path}": one for path, one in package.files.items()}
    members = (("debian-binary", b"2.0\n"), ("control.tar.gz", tarball(meta)), ("data.tar.gz", tarball(data)))
    return b"!<arch>\n" + b"".join(_member(name, content) for name, content in members)


def tarball(entries):
    """A packed tar of {path: (bytes, mode) or target of a link}, with the folders that they need."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder in sorted({str(parent) for path in entries for parent in Path(path).parents}):
            row = _row(f"./{folder}" if folder != "." else "./", 0o755)
            row.type = tarfile.DIRTYPE
            tar.addfile(row)
        for path, one in sorted(entries.items()):
            row = _row(path if path.startswith("./") else f"./{path.lstrip('/')}", 0o777)
            if isinstance(one, str):
                row.type, row.linkname = tarfile.SYMTYPE, one
                tar.addfile(row)
            else:
                row.size, row.mode = len(one[0]), one[1]
                tar.addfile(row, io.BytesIO(one[0]))
    return gzip.compress(buffer.getvalue(), mtime=0)


class Signer:
    """A key made for this lab, in a folder of gpg's own: the sockets in it may only have paths of 107 bytes."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="gpg-")
        self.home = Path(self._folder.name)
        self._gpg("--quick-generate-key", "Software depot of the lab <depot@lab.example>", "ed25519", "sign", "2y")
        self.public = self._gpg("--armor", "--export")
        listed = self._gpg("--with-colons", "--list-keys").decode().splitlines()
        # The first is the primary key's.
        self.fingerprint = next(line.split(":")[9] for line in listed if line.startswith("fpr:"))

    def clear(self, text):
        """The text with its signature around it."""
        return self._gpg("--clearsign", text=text)

    def detached(self, text):
        """The signature alone."""
        return self._gpg("--armor", "--detach-sign", text=text)

    def _gpg(self, *words, text=b""):
        argv = [
            "gpg",
            "--batch",
            "--yes",
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
            "--homedir",
            str(self.home),
        ]
        try:
            done = subprocess.run([*argv, *words], input=text, capture_output=True, check=False)
        except FileNotFoundError:
            raise NoSignature(
                "The software depot of the lab signs its packages, and there is no gpg on this machine: install gnupg."
            ) from None
        if done.returncode != 0:
            raise NoSignature(f"gpg {words[0]} failed: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def close(self):
        """End the agent that gpg started for the key."""
        argv = ["gpgconf", "--homedir", str(self.home), "--kill", "all"]
        subprocess.run(argv, capture_output=True, check=False, env={**os.environ, "GNUPGHOME": str(self.home)})
        with contextlib.suppress(OSError):  # the agent removes its sockets at the same time
            self._folder.cleanup()


def repository(packages, signer, label):
    """{file name: bytes} of a flat repository: the packages, their index, and the signed Release."""
    found = {one.file_name: write(one) for one in packages}
    index = "\n".join(_entry(one, found[one.file_name]) for one in packages).encode()
    files = {"Packages": index, "Packages.gz": gzip.compress(index, mtime=0)}
    lines = [f"Origin: {label}", f"Label: {label}", "Suite: stable", "Architectures: amd64 all"]
    lines += [f"Date: {formatdate(usegmt=True)}", "Acquire-By-Hash: no", "SHA256:"]
    lines += [f" {hashlib.sha256(data).hexdigest()} {len(data):>8} {name}" for name, data in files.items()]
    release = ("\n".join(lines) + "\n").encode()
    found.update(files)
    found.update({"Release": release, "InRelease": signer.clear(release), "Release.gpg": signer.detached(release)})
    return found


def _entry(package, data):
    rows = {
        "Filename": f"./{package.file_name}",
        "Size": str(len(data)),
        "SHA256": hashlib.sha256(data).hexdigest(),
    }
    return package.control(len(data)) + "".join(f"{key}: {value}\n" for key, value in rows.items())


def _row(path, mode):
    row = tarfile.TarInfo(path)
    row.mode, row.mtime, row.uname, row.gname = mode, EPOCH, "root", "root"
    return row


def _member(name, data):
    head = f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
    return head + data + b"\n" * (len(data) % 2)
