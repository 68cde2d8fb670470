"""Digits that other machines write are those that Python reads."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nothing_takes_a_superscript_for_a_digit():
    """'²'.isdigit() is true, and int('²') fails: isdecimal() knows what int() takes."""
    files = [path for path in (ROOT / "plugins").rglob("*.py") if ".isdigit()" in path.read_text()]
    assert files == []
