"""Compiled code is kept by its source, and code that was compiled from another source never runs."""

from __future__ import annotations

import sys
import types

import pytest

import kept_code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_code, "ROOT", str(tmp_path))
    monkeypatch.setattr(kept_code, "FOLDER", str(tmp_path / "kept"))
    return tmp_path


def value(code):
    found = {}
    exec(code, found)
    return found["value"]


def made(folder, source, calls, compiler="python", name="one.py"):
    def make():
        calls.append(source)
        return compile(source, name, "exec")

    return kept_code.kept(compiler, str(folder / name), source, make)


def test_the_same_source_is_compiled_once(folder):
    calls = []
    assert [value(made(folder, b"value = 1", calls)) for _time in range(3)] == [1, 1, 1]
    assert len(calls) == 1


def test_another_source_path_or_compiler_is_compiled_again(folder):
    calls = []
    made(folder, b"value = 1", calls)
    assert value(made(folder, b"value = 2", calls)) == 2
    made(folder, b"value = 1", calls, name="two.py")
    made(folder, b"value = 1", calls, compiler="pytest")
    assert len(calls) == 4


def test_a_file_of_another_project_is_not_kept(folder, tmp_path_factory):
    calls, other = [], tmp_path_factory.mktemp("other")
    for _time in range(2):
        made(other, b"value = 1", calls)
    assert len(calls) == 2
    assert not (folder / "kept").exists()


def test_a_damaged_file_costs_time_and_nothing_else(folder):
    calls = []
    made(folder, b"value = 1", calls)
    (file,) = [path for path in (folder / "kept").rglob("*") if path.is_file() and path.suffix != ".lock"]
    file.write_bytes(file.read_bytes()[:9])
    assert value(made(folder, b"value = 1", calls)) == 1
    assert len(calls) == 2


def test_where_nothing_can_be_written_code_is_compiled_each_time(folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setattr(kept_code, "FOLDER", str(folder / "file"))
    calls = []
    assert [value(made(folder, b"value = 1", calls)) for _time in range(2)] == [1, 1]
    assert len(calls) == 2


def test_ansible_and_python_compile_this_checkout_by_it():
    from ansible.utils.collection_loader import _collection_finder

    assert _collection_finder.compile is kept_code.compiled
    assert "kept_code" in sys.modules["importlib.machinery"].SourceFileLoader.source_to_code.__module__


def test_code_of_a_collection_is_the_same_as_without_it():
    source = "def value(): return __file__"
    code = kept_code.compiled(source=source, filename="/elsewhere/one.py", mode="exec", flags=0, dont_inherit=True)
    assert isinstance(code, types.CodeType)
    assert code.co_filename == "/elsewhere/one.py"
