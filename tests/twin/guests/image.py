"""The image that guests start from: an installed Debian, made once on a machine and known by its recipe."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import docker.errors

from .engine import EngineProblem

FILES = Path(__file__).parent / "files"
REPOSITORY = "aiready-lab/guest"
SUITE = "bookworm"
PLAIN = "debian:bookworm-slim"  # what a Dockerfile starts from where mmdebstrap cannot be had
PACKAGES = (
    *("ca-certificates", "chrony", "curl", "dbus", "ethtool", "gnupg", "iproute2", "iptables", "iputils-ping", "kmod"),
    *("netbase", "openssh-server", "openssh-sftp-server", "pciutils", "procps", "python3", "python3-apt", "sudo"),
    *("systemd", "systemd-sysv"),
)
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")
NEEDED_BYTES = 2 * 1024**3
TAIL = 15  # lines of a build that failed
LIMIT_S = 900


def tag():
    """The name of the image that this recipe makes."""
    recipe = "\n".join([SUITE, *PACKAGES, *LEFT_OUT, (FILES / "setup").read_text(encoding="utf-8")])
    return f"{REPOSITORY}:{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def ensure(client, say):
    """The image's name; it is made first if it is not there. say(line) is told of what takes a while."""
    name = tag()
    try:
        client.images.get(name)
        return name
    except docker.errors.ImageNotFound:
        pass
    _require_room()
    say(f"Making the image of the guests, {name}; this is done once and takes a minute or two.")
    with tempfile.TemporaryDirectory(prefix="aiready-image-") as folder:
        if _can_bootstrap():
            _bootstrap(client, name, Path(folder), say)
        else:
            say(f"mmdebstrap is not here, or may not be used: starting from {PLAIN} instead.")
            _build(client, name, Path(folder), say)
    say(f"The image {name} is there.")
    return name


def sources():
    """This machine's own list of Debian packages, where it has one: what works here works in the guests."""
    for path in map(Path, ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if re.search(rf"^(Suites:|deb .*)\s*{SUITE}\b", text, re.MULTILINE) and "debian" in text:
                return [str(path)]
    return []


def _can_bootstrap():
    return shutil.which("mmdebstrap") is not None and os.geteuid() == 0


def _bootstrap(client, name, folder, say):
    tar = folder / "guest.tar"
    argv = ["mmdebstrap", "--variant=minbase", "--mode=root", f"--include={','.join(PACKAGES)}"]
    argv += ["--aptopt=APT::Install-Recommends false", '--aptopt=Acquire::Languages "none"']
    argv += [f"--dpkgopt=path-exclude={one}" for one in LEFT_OUT]
    argv += [f"--customize-hook=upload {FILES / 'setup'} /setup"]
    argv += ['--customize-hook=chroot "$1" sh /setup', '--customize-hook=rm "$1/setup"']
    _followed([*argv, SUITE, str(tar), *sources()], say)
    say("Handing it to the engine.")
    with tar.open("rb") as content:
        client.api.import_image_from_data(content, repository=name.partition(":")[0], tag=name.partition(":")[2])


def _build(client, name, folder, say):
    shutil.copy(FILES / "setup", folder / "setup")
    lines = [f"FROM {PLAIN}", "ENV DEBIAN_FRONTEND=noninteractive", "COPY setup /setup"]
    lines += [
        f"RUN apt-get update && apt-get install -y --no-install-recommends {' '.join(PACKAGES)}"
        " && sh /setup && rm -rf /setup /var/lib/apt/lists/*"
    ]
    (folder / "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
    last = []
    try:
        for row in client.api.build(path=str(folder), tag=name, rm=True, forcerm=True, decode=True):
            for line in (row.get("stream") or row.get("error") or "").splitlines():
                _tell(line, last, say)
            if "error" in row:
                raise _failed("docker build", last)
    except docker.errors.APIError as problem:
        raise _failed("docker build", [*last, str(problem.explanation or problem)]) from problem


def _followed(argv, say):
    last = []
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout:
            _tell(line.rstrip(), last, say)
    if process.returncode != 0:
        raise _failed(argv[0], last)


def _tell(line, last, say):
    """Keep what a failure is explained with; the steps of a build are told."""
    if line.strip():
        last.append(line)
        del last[:-TAIL]
    if line.startswith(("I:", "Step ")):
        say(f"  {line.partition(' ')[2]}")


def _failed(what, last):
    return EngineProblem(
        f"The image of the guests could not be made: {what} failed. Its last lines:",
        *(f"  {line}" for line in last),
        "Look whether this machine reaches the Debian mirror in its apt sources, then start again.",
    )


def _require_room():
    for place in {tempfile.gettempdir(), "/var/lib/docker" if Path("/var/lib/docker").is_dir() else "/"}:
        free = shutil.disk_usage(place).free
        if free < NEEDED_BYTES:
            raise EngineProblem(
                f"There is no room to make the image of the guests: {place} has {free // 1024**2} MB left, and "
                f"{NEEDED_BYTES // 1024**2} MB are needed.",
                "Make room there, then start again.",
            )
