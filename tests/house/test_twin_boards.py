"""The twin's boards are those of the collection: one owner, and a copy in the package that does not import it."""

from __future__ import annotations

import json

from house import twin_boards


def test_the_twin_ships_the_boards_of_the_collection():
    shipped = json.loads(twin_boards.FILE.read_text())
    assert shipped == json.loads(json.dumps(twin_boards.tables())), f"Write the copy again: {twin_boards.COMMAND}"


def test_the_command_writes_what_is_there():
    assert twin_boards.FILE.read_text() == twin_boards.written(), f"Write the copy again: {twin_boards.COMMAND}"
