"""What the lab makes of the product's recipe: when an image is made anew, and what is said when it cannot be made."""

from __future__ import annotations

import hashlib
import re
import shutil

import pytest

docker = pytest.importorskip("docker")

from vsphere_twin.guests import building, training_image  # noqa: E402  (needs the engine's library)
from vsphere_twin.guests.engine import EngineProblem  # noqa: E402

IMAGES = training_image.RECIPE.parent
RECIPES = sorted(path.name for path in IMAGES.iterdir() if path.is_dir())


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
def _recipe(tmp_path):
    shutil.copytree(training_image.RECIPE, tmp_path / "recipe")
    return tmp_path / "recipe"


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


@pytest.mark.parametrize(
    "file", ["Dockerfile", "requirements.txt", "image-check", "image-packages", "packages.txt", "dpkg.cfg"]
)
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


def test_a_failed_build_is_told_with_its_last_lines_and_without_colours(recipe):
    rows = [{"stream": "Step 1/2 : FROM x\n"}, {"stream": "\x1b[91mg++: no memory\x1b[0m\n"}, {"error": "status 1"}]
    said = []
    with pytest.raises(EngineProblem) as problem:
        build(recipe, Engine(rows=rows), said=said)
    assert "  g++: no memory\n  status 1\n" in str(problem.value)
    assert "  1/2 : FROM x" in said


def test_a_disk_that_is_too_full_is_told_before_anything_is_made(recipe, monkeypatch):
    engine = Engine()
    monkeypatch.setattr(building.shutil, "disk_usage", lambda _place: shutil._ntuple_diskusage(10, 10, 0))
    with pytest.raises(EngineProblem, match="There is no room to make the image for trainings: .* has 0 MB left"):
        build(recipe, engine)
    assert engine.built == []


@pytest.fixture(name="sources")
def _sources(tmp_path, recipe, monkeypatch):
    """Where archives are kept, and what is wanted there: one whose content is `right`."""
    monkeypatch.setattr(training_image, "SOURCES", tmp_path / "sources")
    monkeypatch.setattr(training_image, "RECIPE", recipe)
    digest = hashlib.sha256(b"right").hexdigest()
    (recipe / "requirements.txt").write_text(f"horovod==0.28.1 --hash=sha256:{digest}\n", encoding="utf-8")
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


@pytest.mark.parametrize("recipe_name", RECIPES)
def test_a_recipe_pins_horovod_by_its_content(recipe_name):
    text = (IMAGES / recipe_name / "requirements.txt").read_text(encoding="utf-8")
    assert re.fullmatch(r"horovod==0\.28\.1 --hash=sha256:[0-9a-f]{64}\n", text)


def test_all_recipes_mean_the_same_horovod():
    assert len({(IMAGES / name / "requirements.txt").read_text(encoding="utf-8") for name in RECIPES}) == 1


@pytest.mark.parametrize("recipe_name", RECIPES)
def test_a_recipe_asks_for_every_part_of_horovod_by_name(recipe_name):
    text = (IMAGES / recipe_name / "Dockerfile").read_text(encoding="utf-8")
    assert {"PYTORCH", "MPI", "GLOO"} <= set(re.findall(r"HOROVOD_WITH_(\w+)=1", text))


def test_no_python_file_is_left_out_since_packages_compile_theirs():
    rows = (training_image.RECIPE / "dpkg.cfg").read_text(encoding="utf-8").splitlines()
    left_out = [row.partition("=")[2] for row in rows if row.startswith("path-exclude=")]
    assert [row for row in left_out if "python3" in row and not row.endswith("/torch/bin/test_*")] == []
