"""Build images on this machine: progress reports, and explanations of failures."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path

import docker.errors

from . import settings
from .engine import EngineProblem

SUITE = "bookworm"
# Base image of a Dockerfile if mmdebstrap is not available; the same as in the product's recipe.
PLAIN = "debian:12-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241"
# The versions that the images were last seen with. A mirror has the current ones alone, so others are no error.
RECORDED = Path(__file__).parent / "files" / "packages.txt"
IMAGES = "images"  # below the state folder: the versions of the images that this machine made
LIST = "dpkg-query --show --showformat '${Package} ${Version}\\n'"
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")
TAIL = 15  # lines of a failure
SHOWN = ("I:", "Step ")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Lines:
    """Output of a tool: steps are reported as they come, the last lines are kept."""

    def __init__(self, say):
        self._say = say
        self.last = deque(maxlen=TAIL)

    def take(self, line):
        """Add one line."""
        line = COLOURS.sub("", line).rstrip()
        if line.strip():
            self.last.append(line)
        if line.startswith(SHOWN):
            self._say(f"  {line.partition(' ')[2][:120]}")


def failed(what, lines, todo):
    """Return the failure of an image build."""
    return EngineProblem(f"{what} failed. Its last lines:", *(f"  {line}" for line in lines), todo)


def followed(argv, say, todo, **added):
    """Run a tool to its end, and report its steps; `added` is added to its environment."""
    lines = Lines(say)
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, env={**os.environ, **added}, **output) as process:
        for line in process.stdout:
            lines.take(line)
    if process.returncode != 0:
        raise failed(Path(argv[0]).name, lines.last, todo)


def built(client, what, say, todo, **options):
    """Have the engine build a Dockerfile; `options` are those of its API."""
    lines = Lines(say)
    try:
        for row in client.api.build(rm=True, forcerm=True, decode=True, **options):
            for line in (row.get("stream") or row.get("error") or "").splitlines():
                lines.take(line)
            if "error" in row:
                raise failed(what, lines.last, todo)
    except docker.errors.APIError as problem:
        raise failed(what, [*lines.last, str(problem.explanation or problem)], todo) from problem


def can_bootstrap():
    """Return whether a Debian can be built here without any registry."""
    return shutil.which("mmdebstrap") is not None and os.geteuid() == 0


def bootstrapped(client, name, say, todo, packages, arguments=()):
    """A Debian with these packages, straight from the mirror, handed to the engine under this name."""
    with tempfile.TemporaryDirectory(prefix="aiready-image-") as folder:
        tar = Path(folder) / "debian.tar"
        argv = ["mmdebstrap", "--variant=minbase", "--mode=root", f"--include={','.join(packages)}"]
        argv += ["--aptopt=APT::Install-Recommends false", '--aptopt=Acquire::Languages "none"']
        argv += [f"--dpkgopt=path-exclude={one}" for one in LEFT_OUT]
        versions = Path(folder) / "packages.txt"
        argv += [f'--customize-hook=chroot "$1" {LIST} >{versions}']
        # mmdebstrap gives all files this time. Hooks know it too: apt compares its cache with the times of its lists.
        epoch = str(int(time.time()))
        followed([*argv, *arguments, SUITE, str(tar), *sources()], say, todo, SOURCE_DATE_EPOCH=epoch)
        compared(name, versions.read_text(encoding="utf-8").splitlines(), say)
        say("Handing it to the engine.")
        repository, _colon, tag = name.partition(":")
        with tar.open("rb") as content:
            client.api.import_image_from_data(content, repository=repository, tag=tag)


def compared(name, packages, say):
    """Save the package versions of an image, and report those that differ from the recorded ones."""
    made = settings.state() / IMAGES
    made.mkdir(parents=True, exist_ok=True)
    kept = made / f"{name.replace('/', '_').replace(':', '_')}.txt"
    kept.write_text("".join(f"{line}\n" for line in sorted(packages)), encoding="utf-8")
    different = sorted(set(packages) - set(RECORDED.read_text(encoding="utf-8").splitlines()))
    if different:
        say(f"{len(different)} packages have other versions than {RECORDED.name} records: {', '.join(different)[:200]}")
    say(f"The versions of its {len(packages)} packages are in {kept}.")


def sources():
    """Return this machine's own list of Debian packages, if it has one: working sources work in the guests too."""
    for path in map(Path, ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if re.search(rf"^(Suites:|deb .*)\s*{SUITE}\b", text, re.MULTILINE) and "debian" in text:
                return [str(path)]
    return []


def there(client, name):
    """Return whether the engine has an image."""
    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def require_room(what, needed):
    """EngineProblem where an image has no room."""
    for place in sorted({tempfile.gettempdir(), "/var/lib/docker" if Path("/var/lib/docker").is_dir() else "/"}):
        free = shutil.disk_usage(place).free
        if free < needed:
            raise EngineProblem(
                f"There is no room to make {what}: {place} has {free // 1024**2} MB left, and {needed // 1024**2} MB "
                "are needed.",
                "Make room there, then start again.",
            )
