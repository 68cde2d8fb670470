"""Build a world from a seed file."""

from __future__ import annotations

from pathlib import Path

from ..switches import seeds as switches
from . import build, customization, permissions, seed_file, services
from .release import RELEASES
from .seed_file import SeedError
from .seed_schema import check
from .world import World

SEEDS = Path(__file__).resolve().parent.parent / "seeds"


def load(name_or_path):
    """The world that a seed describes: one of the shipped ones by name, or a file."""
    path = SEEDS / f"{name_or_path}.yml"
    if not path.is_file():
        path = Path(name_or_path)
    if not path.is_file():
        raise SeedError([f"There is no seed {name_or_path}: neither a file nor one of {', '.join(shipped())}."])
    try:
        return from_data(seed_file.read(path.read_text(encoding="utf-8")))
    except SeedError as problem:
        raise problem.of(path) from problem
    except UnicodeDecodeError as problem:
        raise SeedError([f"{path}: this is no text in UTF-8: {problem}."]) from problem


def shipped():
    """Return {name of a shipped seed: its content}."""
    found = {}
    for path in sorted(SEEDS.glob("*.yml")):
        found[path.stem] = seed_file.read(path.read_text(encoding="utf-8")).get("description", "")
    return found


def from_data(data):
    """The world that a seed's data describes."""
    check(data)
    world = World()
    world.release = RELEASES[str(data.get("release", "8.0.3"))]
    world.users = dict(data["users"])
    world.instance_uuid = world.new_uuid("vcenter")
    world.task_seconds = {key: float(value) for key, value in data.get("task_seconds", {}).items()}
    build.inventory(world, data)
    switches.build(world, data.get("fabric", {}))
    services.add_all(world)
    permissions.build(world, data)
    for entry in data.get("customizations", []):
        world.get("CustomizationSpecManager").specs.add(customization.seeded(entry))
    return world
