"""Build a world from a seed file."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path

from ..switches import seeds as switches
from . import build, customization, permissions, seed_file, services
from .release import DEFAULT, RELEASES
from .seed_file import Problem, SeedError, changed, laid_over, line_of, placed, within
from .seed_schema import check
from .tagging import Category, Tag
from .world import World

SEEDS = Path(__file__).resolve().parent.parent / "seeds"


def load(name_or_path):
    """The world that a seed describes: one of the shipped ones by name, or a file."""
    path, data = _read(name_or_path)
    try:
        return from_data(data)
    except SeedError as problem:
        raise problem.of(path) from problem


def _read(name_or_path):
    """(path, data) of a seed."""
    path = SEEDS / f"{name_or_path}.yml"
    if not path.is_file():
        path = Path(name_or_path)
    if not path.is_file():
        raise SeedError([f"There is no seed {name_or_path}: neither a file nor one of {', '.join(shipped())}."])
    try:
        return path, seed_file.read(path.read_text(encoding="utf-8"))
    except SeedError as problem:
        raise problem.of(path) from problem
    except UnicodeDecodeError as problem:
        raise SeedError([f"{path}: this is no text in UTF-8: {problem}."]) from problem


def shipped():
    """Return {name of a shipped seed: its content}."""
    found = {}
    for path in sorted(SEEDS.glob("*.yml"), key=lambda one: one.stem):
        found[path.stem] = seed_file.read(path.read_text(encoding="utf-8")).get("description", "")
    return found


def extended(data, of=()):
    """The data of a seed with all that it takes from the seed that it extends."""
    if not isinstance(data, dict) or "extends" not in data:
        return data
    base, line = str(data["extends"]), line_of(data, "extends")
    if base in of:
        raise SeedError([Problem(f"seed.extends: {' and '.join(of)} extend each other.", line)])
    with within(data, "extends"):
        _path, found = _read(base)
    return laid_over(placed(extended(found, (*of, base)), line), data)


def _hosts_of(data):
    """All lists of hosts of a seed."""
    for center in data["datacenters"]:
        yield from (cluster["hosts"] for cluster in center.get("clusters", []) if "hosts" in cluster)
        yield center.get("hosts", [])


def from_data(data):
    """The world that a seed's data describes."""
    data = copy.deepcopy(extended(data))
    check(data)
    for hosts in _hosts_of(data):
        hosts[:] = [changed(host, **data.get("every_host", {})) for host in hosts]
    world = World()
    world.release = RELEASES[str(data.get("release", DEFAULT))]
    if "api_version" in data:
        world.release = dataclasses.replace(world.release, api_version=str(data["api_version"]))
    world.users = dict(data["users"])
    world.sso.federated.update(data.get("federated_domains", ()))
    world.instance_uuid = data.get("instance_uuid") or world.new_uuid("vcenter")
    world.captured, world.assumptions = data.get("captured", ""), list(data.get("assumptions", []))
    world.task_seconds = {key: float(value) for key, value in data.get("task_seconds", {}).items()}
    build.inventory(world, data)
    switches.build(world, data.get("fabric", {}))
    services.add_all(world)
    permissions.build(world, data)
    for entry in data.get("categories", []):
        world.tagging.categories[entry["id"]] = Category(**entry)
    for entry in data.get("tags", []):
        category = world.tagging.categories.get(entry["category"])
        if category is None:
            raise SeedError([Problem(f"Tag {entry['name']}: there is no such category.", line_of(entry, "category"))])
        world.tagging.tags[entry["id"]] = Tag(
            **{**entry, "category": category, "objects": [tuple(one) for one in entry.get("objects", ())]}
        )
    for entry in data.get("customizations", []):
        world.get("CustomizationSpecManager").specs.add(customization.seeded(entry))
    return world
