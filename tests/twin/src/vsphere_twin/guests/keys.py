"""Host keys of guests: each machine's own, and the known_hosts data of clients."""

from __future__ import annotations

import threading

import asyncssh


class HostKeys:
    """One key for each VM for as long as it exists, and the known_hosts file that follows names and addresses."""

    def __init__(self, keyring):
        self._file = keyring.known_hosts_file
        self._lock = threading.Lock()
        self.authorised = asyncssh.read_private_key(str(keyring.key_file)).export_public_key().decode()

    @staticmethod
    def make():
        """A new (private, public) key as OpenSSH keeps them."""
        key = asyncssh.generate_private_key("ssh-ed25519")
        return key.export_private_key("openssh").decode(), key.export_public_key("openssh").decode()

    def know(self, moid, names, public):
        """Record that these names and addresses have exactly this key; older entries of the VM are removed."""
        mark = f" lab:{moid}"
        with self._lock:
            lines = self._file.read_text(encoding="utf-8").splitlines()
            kept = [_without(names, line) for line in lines if not line.endswith(mark)]
            if names:
                kept.append(f"{','.join(names)} {' '.join(public.split()[:2])}{mark}")
            draft = self._file.with_suffix(".new")
            draft.write_text("".join(f"{line}\n" for line in kept if line), encoding="utf-8")
            draft.replace(self._file)


def _without(names, line):
    """The line of another VM without these names: copies of a template share its name until each has its own."""
    if " lab:" not in line:
        return line
    theirs, _space, rest = line.partition(" ")
    left = [name for name in theirs.split(",") if name not in names]
    return f"{','.join(left)} {rest}" if left else ""
