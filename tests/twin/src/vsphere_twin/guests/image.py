"""The image that guests start from: an installed Debian, made once on a machine and known by its recipe."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from . import building
from .turn import turn

FILES = Path(__file__).parent / "files"
REPOSITORY = "aiready-lab/guest"
# pigz: Docker uses it to unpack layers, if it is installed.
PACKAGES = (
    *("ca-certificates", "chrony", "curl", "dbus", "ethtool", "gnupg", "iproute2", "iptables", "iputils-ping", "kmod"),
    *("netbase", "openssh-server", "openssh-sftp-server", "pciutils", "pigz", "procps"),
    *("python3", "python3-apt", "sudo", "systemd", "systemd-sysv"),
)
# apt's lists and cache stay in the image: an update of unchanged lists is much less work for each guest.
KEPT = "--skip=cleanup/apt"
# Input files of the image, and their target paths; Python starts with the second.
FILES_OF_IMAGE = {"setup": "/setup", "lab_bytecode.py": "/usr/lib/python3/dist-packages/lab_bytecode.py"}
NEEDED_BYTES = 2 * 1024**3
WHAT = "the image of the guests"
TODO = "Look whether this machine reaches the Debian mirror in its apt sources, then start again."


def tag():
    """The name of the image that this recipe makes."""
    texts = [(FILES / name).read_text(encoding="utf-8") for name in FILES_OF_IMAGE]
    recipe = "\n".join([building.SUITE, KEPT, *PACKAGES, *building.LEFT_OUT, *texts])
    return f"{REPOSITORY}:{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def ensure(client, say):
    """Return the image's name; it is built first if it is missing. say(line) reports slow steps."""
    name = tag()
    if building.there(client, name):
        return name
    with turn(say):
        if not building.there(client, name):
            _make(client, name, say)
    return name


def _make(client, name, say):
    building.require_room(WHAT, NEEDED_BYTES)
    say(f"Making {WHAT}, {name}; this is done once and takes a minute or two.")
    if building.can_bootstrap():
        uploads = [f"upload {FILES / name} {path}" for name, path in FILES_OF_IMAGE.items()]
        hooks = [*uploads, 'chroot "$1" sh /setup', 'rm "$1/setup"']
        arguments = [KEPT, *(f"--customize-hook={hook}" for hook in hooks)]
        building.bootstrapped(client, name, say, TODO, PACKAGES, arguments)
    else:
        say(f"mmdebstrap is not here, or may not be used: starting from {building.PLAIN} instead.")
        _from_hub(client, name, say)
    say(f"The image {name} is there.")


def _from_hub(client, name, say):
    lines = [f"FROM {building.PLAIN}", "ENV DEBIAN_FRONTEND=noninteractive"]
    lines += [f"COPY {name} {path}" for name, path in FILES_OF_IMAGE.items()]
    lines += [
        f"RUN apt-get update && apt-get install -y --no-install-recommends {' '.join(PACKAGES)}"
        " && sh /setup && rm /setup"
    ]
    with tempfile.TemporaryDirectory(prefix="aiready-image-") as folder:
        for name in FILES_OF_IMAGE:
            shutil.copy(FILES / name, folder)
        Path(folder, "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        building.built(client, f"Making {WHAT}: docker build", say, TODO, path=folder, tag=name)
