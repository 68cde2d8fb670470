"""What a lab makes of a recipe: when an image is made anew, and what is said when it cannot be made."""

from __future__ import annotations

import hashlib
import shutil

import pytest

docker = pytest.importorskip("docker")

from vsphere_twin.guests import building, training_image  # noqa: E402  (needs the engine's library)
from vsphere_twin.guests.engine import EngineProblem  # noqa: E402

RECIPE = {"Dockerfile": "ARG BASE\nFROM ${BASE}\n", "requirements.txt": "", "files/check": "#!/bin/sh\n"}
RIGHT = hashlib.sha256(b"right").hexdigest()


class Engine:
    """As much of an engine as a build needs; it notes what it is given."""

    def __init__(self, names=(), rows=()):
        self.names, self.rows, self.built = set(names), rows, []
        self.images = self.api = self

    def get(self, name):
        if name not in self.names:
            raise docker.errors.ImageNotFound(name)

    def build(self, tag, buildargs, **_how):
        self.built.append((tag, buildargs["BASE"]))
        self.arguments = buildargs
        return iter(self.rows)


@pytest.fixture(name="recipe")
def _recipe(tmp_path, monkeypatch):
    folder = tmp_path / "recipe"
    for name, text in RECIPE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "sources").mkdir()
    monkeypatch.setenv("VSPHERE_TWIN_TRAINING_IMAGE", str(folder))
    return folder


def build(recipe, engine=None, base="debian:1", said=None):
    """The name that an image of this recipe gets."""
    say = (said if said is not None else []).append
    return training_image._built(engine or Engine(), "horovod", recipe, base, say, "takes long")


def test_the_same_recipe_has_the_same_name(recipe):
    assert build(recipe) == build(recipe)


def test_an_image_that_is_there_is_not_made_again(recipe):
    engine = Engine(names=[build(recipe)])
    build(recipe, engine)
    assert engine.built == []


@pytest.mark.parametrize("file", RECIPE)
def test_a_changed_file_makes_another_image(recipe, file):
    before = build(recipe)
    with (recipe / file).open("a", encoding="utf-8") as text:
        text.write("\n")
    assert build(recipe) != before


def test_another_base_makes_another_image(recipe):
    assert build(recipe, base="debian:2") != build(recipe)


def test_programs_of_osu_are_added_to_an_image_and_not_to_the_recipe():
    engine = Engine()
    name = training_image.measuring(engine, "aiready-lab/horovod:1", lambda _line: None)
    assert engine.built == [(name, "aiready-lab/horovod:1")]
    assert name.startswith("aiready-lab/horovod-osu:")


def test_lab_takes_the_packages_that_its_mirror_has(recipe):
    engine = Engine()
    build(recipe, engine)
    assert engine.arguments["PACKAGES"] == "current"


def test_an_archive_that_was_fetched_does_not_change_the_name(recipe):
    before = build(recipe)
    (recipe / "sources/horovod-0.28.1.tar.gz").write_bytes(b"fetched")
    assert build(recipe) == before


def test_a_failed_build_is_reported_with_its_last_lines_and_without_colours(recipe):
    rows = [{"stream": "Step 1/2 : FROM x\n"}, {"stream": "\x1b[91mg++: no memory\x1b[0m\n"}, {"error": "status 1"}]
    said = []
    with pytest.raises(EngineProblem) as problem:
        build(recipe, Engine(rows=rows), said=said)
    assert "  g++: no memory\n  status 1\n" in str(problem.value)
    assert "  1/2 : FROM x" in said


def test_a_disk_that_is_too_full_is_reported_before_anything_is_made(recipe, monkeypatch):
    engine = Engine()
    monkeypatch.setattr(building.shutil, "disk_usage", lambda _place: shutil._ntuple_diskusage(10, 10, 0))
    with pytest.raises(EngineProblem, match="There is no room to make the image for trainings: .* has 0 MB left"):
        build(recipe, engine)
    assert engine.built == []


@pytest.fixture(name="sources")
def _sources(tmp_path, recipe, monkeypatch):
    """Where archives are kept, and what is wanted there: one whose content is `right`."""
    monkeypatch.setenv("VSPHERE_TWIN_STATE", str(tmp_path))
    (recipe / "requirements.txt").write_text(f"horovod==0.28.1 --hash=sha256:{RIGHT}\n", encoding="utf-8")
    (tmp_path / "sources").mkdir()
    return tmp_path / "sources/horovod-0.28.1.tar.gz"


def test_an_archive_that_is_there_is_not_fetched(sources):
    sources.write_bytes(b"right")
    assert training_image._sources(pytest.fail) == {"sources/horovod-0.28.1.tar.gz": sources}


def test_an_archive_with_another_content_is_refused(sources, monkeypatch):
    sources.write_bytes(b"half of it")
    monkeypatch.setattr(building, "followed", lambda *_how: None)
    with pytest.raises(EngineProblem, match="is not the file that recipe/requirements.txt means"):
        training_image._sources(lambda _line: None)


def test_a_recipe_that_names_no_archive_needs_none(recipe):
    (recipe / "requirements.txt").unlink()
    assert training_image._sources(pytest.fail) == {}


@pytest.fixture(name="wheels")
def _wheels(tmp_path, monkeypatch):
    """Where DeepSpeed and Ray are kept. One file is wanted there, whose content is `right`."""
    monkeypatch.setenv("VSPHERE_TWIN_STATE", str(tmp_path))
    monkeypatch.setattr(training_image, "ENGINES", tmp_path / "recipe")
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe/requirements.txt").write_text(f"# as uv\nray==2 --hash=sha256:{RIGHT}\n", encoding="utf-8")
    return tmp_path / "engines"


def test_packages_of_engines_that_are_there_are_not_fetched(wheels):
    wheels.mkdir()
    (wheels / "ray-2-py3-none-any.whl").write_bytes(b"right")
    (wheels / "ray-1-py3-none-any.whl").write_bytes(b"of an earlier list")
    assert training_image._wheels(pytest.fail) == {
        "sources/ray-2-py3-none-any.whl": wheels / "ray-2-py3-none-any.whl",
    }


def test_packages_of_engines_are_fetched_with_their_hashes_for_the_python_of_the_image(wheels, monkeypatch):
    asked = []

    def fetch(argv, *_how):
        asked.append(argv)
        (wheels / "ray-2-py3-none-any.whl").write_bytes(b"right")

    monkeypatch.setattr(building, "followed", fetch)
    assert list(training_image._wheels(lambda _line: None)) == ["sources/ray-2-py3-none-any.whl"]
    assert "--require-hashes" in asked[0]
    assert asked[0][asked[0].index("--python-version") + 1] == "3.11"
    assert asked[0][-1] == str(wheels.parent / "recipe/requirements.txt")


def test_without_a_recipe_nothing_can_be_trained_and_the_registry_is_empty(monkeypatch):
    monkeypatch.delenv("VSPHERE_TWIN_TRAINING_IMAGE", raising=False)
    monkeypatch.setattr(building, "can_bootstrap", lambda: False)
    engine = Engine()
    with pytest.raises(EngineProblem, match="Set VSPHERE_TWIN_TRAINING_IMAGE to the folder with its Dockerfile"):
        training_image.training(engine, lambda _line: None)
    assert training_image.ensure(engine, lambda _line: None) == engine.built[0][0]
    assert [name.partition(":")[0] for name, _base in engine.built] == ["aiready-lab/registry-empty"]
