"""Build the collection, check the tarball and run Galaxy's importer on it."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from gates.running import BUILD, PYTHON, Gate, GateFailed, environment, tool
from gates.tree import clean_copy

DIST = BUILD / "dist"
# Files for a user of the collection; any other file in the tarball is a gap in build_ignore.
SHIPPED = {
    "CHANGELOG.md",
    "FILES.json",
    "LICENSE",
    "MANIFEST.json",
    "README.md",
    "bindep.txt",
    "changelogs",
    "docs",
    "extensions",
    "inventories",
    "meta",
    "playbooks",
    "plugins",
    "requirements.txt",
    "roles",
}
# They need the twin, which is not in the tarball.
UNFIT = ("inventories/directpath/", "inventories/lab/", "extensions/molecule/")
NEEDED = {
    "LICENSE",
    "README.md",
    "bindep.txt",
    "meta/execution-environment.yml",
    "meta/runtime.yml",
    "requirements.txt",
}
# Its ansible-lint is part of our own gate of that name; here it gives up after three minutes, too few on a busy one.
IMPORTER_SETTINGS = """\
[galaxy-importer]
CHECK_REQUIRED_TAGS=True
RUN_ANSIBLE_LINT=False
"""


def tarball(gate: Gate) -> None:
    """Build, list, import; the importer's exit status is no verdict, its lines are."""
    copy = clean_copy("tarball")
    shutil.rmtree(DIST, ignore_errors=True)
    gate.call([tool("ansible-galaxy"), "collection", "build", "--force", "--output-path", str(DIST)], copy)
    built = next(DIST.glob("*.tar.gz"))
    gate.notes.append(f"{built.name}: {_check_content(built)} files")
    settings = BUILD / "tarball" / "galaxy-importer.cfg"
    settings.write_text(IMPORTER_SETTINGS)
    env = environment(GALAXY_IMPORTER_CONFIG=str(settings))
    output = gate.call([PYTHON, "-m", "galaxy_importer.main", str(built)], BUILD / "tarball", env)
    bad = [line for line in output.splitlines() if line.startswith(("WARNING", "ERROR"))]
    if bad:
        raise GateFailed("galaxy-importer is not content:\n" + "\n".join(bad))


def _check_content(built: Path) -> int:
    with tarfile.open(built) as archive:
        names = {member.name for member in archive.getmembers() if member.isfile()}
    strange = sorted(name for name in names if name.split("/")[0] not in SHIPPED or name.startswith(UNFIT))
    missing = sorted(NEEDED - names)
    if strange or missing:
        raise GateFailed(
            f"The tarball is wrong. Unexpected: {strange}. Missing: {missing}. Fix build_ignore in galaxy.yml."
        )
    return len(names)
