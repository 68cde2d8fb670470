"""Keys of guests: each machine's own, and what a client has to know of them."""

from __future__ import annotations

import threading

import asyncssh


class HostKeys:
    """One key for each VM for as long as it exists, and the file of known hosts that follows names and addresses."""

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
        """These names and addresses answer with this key; what was known of the VM before, or of the names, is not."""
        mark = f" lab:{moid}"
        with self._lock:
            kept = []
            for line in self._file.read_text(encoding="utf-8").splitlines():
                ours = " lab:" in line
                if line.endswith(mark) or (ours and set(names).intersection(line.split(" ", 1)[0].split(","))):
                    continue
                kept.append(line)
            if names:
                kept.append(f"{','.join(names)} {' '.join(public.split()[:2])}{mark}")
            draft = self._file.with_suffix(".new")
            draft.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
            draft.replace(self._file)
