"""The image that trainings run in, built once from the recipe in the settings, and the registry that holds it.

Without a recipe the registry is empty. With one, four images are kept on this machine, each known by its recipe: a
plain Debian, the training image made from it, the same with programs that measure MPI, and the registry's, in which
that one lies already. So a lab pushes nothing when it starts. For trainings with DeepSpeed and Ray there are two more:
the training image with both of them, and a registry's that holds it. Pods of a simulated cluster have one of their own.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import tarfile
import time
from pathlib import Path

from . import building, settings
from .engine import EngineProblem
from .lab import Lab
from .turn import turn

SOURCES, WHEELS = "sources", "engines"  # below the state folder: downloads of the recipe, and of DeepSpeed and Ray
NAME, VERSION = "aiready/horovod", "0.28.1-cpu"  # in the registry
REGISTRY = Path(__file__).parent / "files/registry"
MEASURING = Path(__file__).parent / "files/osu"
PODS = Path(__file__).parent / "files/pods"
ENGINES = Path(__file__).parent / "files/engines"
ENGINES_NAME, ENGINES_VERSION = "aiready/engines", "cpu"  # in the registry
# What Debian's Python 3.11 can load; pip knows no words for all of it.
LOADED = ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux2010", "manylinux1")
PACKAGES = ("ca-certificates",)
NEEDED_BYTES = 8 * 1024**3
PORT = 5000
WHAT = "the image for trainings"
STARTED_S = 300


def ensure(client, say):
    """Return the name of the registry's image with the training image in it, and build what is missing. say(line)
    reports."""
    with turn(say):
        plain = _plain(client, say)
        registry = _built(client, "registry-empty", REGISTRY, plain, say, "takes a moment")
        if settings.recipe() is None:
            return registry
        made = measuring(client, _training(client, plain, say), say)
        return _filled(client, "registry", made, f"{NAME}:{VERSION}", registry, say)


def ensure_engines(client, say):
    """The same of the registry's image that also holds the training image with DeepSpeed and Ray."""
    registry = ensure(client, say)
    with turn(say):
        base = measuring(client, _training(client, _plain(client, say), say), say)
        made = _built(client, "engines", ENGINES, base, say, "takes a few minutes", _wheels)
        return _filled(client, "registry-engines", made, f"{ENGINES_NAME}:{ENGINES_VERSION}", registry, say)


def training(client, say):
    """Return the name of the training image on this machine's own engine; a missing one is built."""
    with turn(say):
        return _training(client, _plain(client, say), say)


def of_pods(client, say):
    """The name of the training image with programs that measure MPI and TCP; a missing one is built."""
    with turn(say):
        made = measuring(client, _training(client, _plain(client, say), say), say)
        return _built(client, "pods", PODS, made, say, "takes a moment")


def _training(client, plain, say):
    recipe = settings.recipe()
    if recipe is None:
        raise EngineProblem(
            "There is no recipe for the image of trainings.",
            f"Set {settings.RECIPE} to the folder with its Dockerfile, then start again.",
        )
    return _built(client, "horovod", recipe, plain, say, "takes a few minutes", _sources)


def measuring(client, image, say):
    """The name of the training image with the lab's programs of OSU, which users add to theirs."""
    return _built(client, "horovod-osu", MEASURING, image, say, "takes a moment")


def _name(kind, *recipe):
    total = hashlib.sha256()
    for part in recipe:
        total.update(part if isinstance(part, bytes) else str(part).encode())
        total.update(b"\0")
    return f"aiready-lab/{kind}:{total.hexdigest()[:12]}"


def _plain(client, say):
    """A Debian with nothing in it: from mmdebstrap where it can be used, else from a hub."""
    if not building.can_bootstrap():
        return building.PLAIN
    name = _name("debian", building.SUITE, *PACKAGES, *building.LEFT_OUT)
    if building.there(client, name):
        return name
    building.require_room(WHAT, NEEDED_BYTES)
    say(f"Making the image that others start from, {name}; this is done once.")
    hook = '--customize-hook=rm -f "$1/etc/hostname"'
    building.bootstrapped(client, name, say, _todo(), PACKAGES, [hook])
    return name


def _built(client, kind, recipe, base, say, how_long, more=None):
    """Build the image of a folder with a Dockerfile; more() gives {path in the folder: file} besides its own files."""
    files = {path.relative_to(recipe).as_posix(): path for path in sorted(recipe.rglob("*")) if path.is_file()}
    # Archives are the downloads; requirements.txt lists them.
    own = {name: path for name, path in files.items() if not name.endswith(".tar.gz")}
    name = _name(kind, base, *(part for row in own.items() for part in (row[0], row[1].read_bytes())))
    if building.there(client, name):
        return name
    building.require_room(WHAT, NEEDED_BYTES)
    say(f"Making the image {name}; this is done once and {how_long}.")
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for path, file in {**own, **(more(say) if more else {})}.items():
            tar.add(file, arcname=path)
    context.seek(0)
    # The mirror of this machine has the current packages alone.
    arguments = {"BASE": base, "JOBS": str(len(os.sched_getaffinity(0))), "PACKAGES": "current"}
    building.built(
        client,
        f"Making {WHAT}: the build of {kind}",
        say,
        _todo(),
        fileobj=context,
        custom_context=True,
        tag=name,
        buildargs=arguments,
    )
    say(f"The image {name} is there.")
    return name


def _sources(say):
    """Fetch the packages that the recipe would get from an index: a build may lack access to it."""
    requirements, kept = settings.recipe() / "requirements.txt", settings.state() / SOURCES
    if not requirements.is_file():
        return {}
    project, version, wanted = re.match(
        r"(\S+)==(\S+) --hash=sha256:(\w+)", requirements.read_text(encoding="utf-8")
    ).groups()
    file = kept / f"{project}-{version}.tar.gz"
    if not _is(file, wanted):
        say(f"Fetching {file.name}.")
        kept.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--require-hashes"]
        building.followed([*pip, "--dest", str(kept), "--requirement", str(requirements)], say, _todo())
    if not _is(file, wanted):
        raise EngineProblem(
            f"{file} is not the file that {settings.recipe().name}/requirements.txt means.", "Remove it; try again."
        )
    return {f"sources/{file.name}": file}


def _wheels(say):
    """Fetch DeepSpeed, Ray and all that they need, of which the image's requirements.txt has the hashes."""
    requirements, kept = ENGINES / "requirements.txt", settings.state() / WHEELS
    wanted = set(re.findall(r"sha256:(\w+)", requirements.read_text(encoding="utf-8")))
    kept.mkdir(parents=True, exist_ok=True)
    if not wanted <= _hashes(kept).keys():
        say("Fetching DeepSpeed and Ray, about 110 MB.")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--dest", str(kept)]
        pip += ["--python-version", "3.11", "--implementation", "cp"]
        pip += [word for abi in ("cp311", "abi3", "none") for word in ("--abi", abi)]
        pip += [word for one in LOADED for word in ("--platform", f"{one}_x86_64")]
        building.followed([*pip, "--requirement", str(requirements)], say, _todo())
    return {f"sources/{file.name}": file for total, file in _hashes(kept).items() if total in wanted}


def _hashes(folder):
    """{sha256: file} of a folder."""
    return {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in sorted(folder.iterdir()) if file.is_file()}


def _todo():
    """Return hints for a failed image build."""
    text = "Look whether this machine reaches its Debian mirror and its package index."
    if settings.recipe() is None:
        return text
    return (
        f"{text} {settings.recipe()} can be built without the index if the archive that its requirements.txt names "
        f"lies in {settings.state() / SOURCES}."
    )


def _is(file, wanted):
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == wanted


def _filled(client, kind, image, pushed, registry, say):
    """A registry's image after an image was pushed into it under a name, once."""
    name = _name(kind, image, registry)
    if building.there(client, name):
        return name
    say(f"Putting {pushed} into the registry.")
    lab = Lab()  # so that the next lab removes the container if this process is killed
    # The engine of this machine trusts its own loopback addresses without a certificate.
    container = client.containers.run(
        registry,
        ["/usr/local/bin/serve", "--open"],
        name=lab.name("filling"),
        labels=lab.labels,
        ports={f"{PORT}/tcp": ("127.0.0.1", None)},
        detach=True,
    )
    try:
        address = _published(container)
        local, _colon, version = f"{address}/{pushed}".rpartition(":")
        client.images.get(image).tag(local, version)
        try:
            _pushed(client, local, version, say)
        finally:
            client.images.remove(f"{local}:{version}", noprune=True)
        container.stop(timeout=5)
        repository, tag = name.split(":")
        container.commit(repository=repository, tag=tag, changes='CMD ["/usr/local/bin/serve"]')
    finally:
        container.remove(force=True, v=True)
    return name


def _published(container):
    """The address on this machine, once something answers there."""
    until = time.monotonic() + STARTED_S
    while b"listening on" not in container.logs():
        container.reload()
        if container.status == "exited" or time.monotonic() > until:
            lines = container.logs(tail=building.TAIL).decode(errors="replace").splitlines()
            raise building.failed("The start of the registry", lines, _todo())
        time.sleep(0.2)
    container.reload()
    row = container.ports[f"{PORT}/tcp"][0]
    return f"{row['HostIp']}:{row['HostPort']}"


def _pushed(client, repository, version, say):
    reported = set()
    for row in client.api.push(repository, version, stream=True, decode=True):
        if "error" in row:
            raise building.failed("The push into the registry", [row["error"]], _todo())
        if row.get("status") == "Pushed" and row["id"] not in reported:
            reported.add(row["id"])
            say(f"  layer {len(reported)} is there")
