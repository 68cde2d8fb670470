# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The requests of a capture over REST: each identifier is one part of a path."""

from __future__ import annotations

import urllib.parse

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import reader
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Folder

ODD = "urn:a/b?c&d"


class Rest:
    """Lists one identifier everywhere, and keeps the requests."""

    def __init__(self, _vcenter=None):
        self.sent = []

    def call(self, method, path, body=None, repeatable=None):
        self.sent.append((method, path, body))
        return {"type": "vm-template"} if urllib.parse.quote(ODD, safe="") in path.partition("?")[0] else [ODD]

    def close(self):
        """Nothing is open."""


@pytest.fixture
def sent(tmp_path, monkeypatch):
    rest = Rest()
    monkeypatch.setattr(reader, "Rest", lambda _vcenter: rest)
    reader.Reader(None, Folder(str(tmp_path / "site.zip"), {}), False, 0)._rest([])
    return rest.sent


def test_an_identifier_is_one_part_of_a_path(sent):
    quoted = urllib.parse.quote(ODD, safe="")
    forms = {path.replace(quoted, "{}") for method, path, _body in sent if method == "GET"}
    known = {path.format(library="{}", item="{}", category="{}", tag="{}", cluster="") for path in reader.PATHS}
    assert forms == {path for path in known if "/esx/settings/" not in path}


def test_the_only_post_carries_the_tags(sent):
    assert [one for one in sent if one[0] != "GET"] == [("POST", reader.POSTS[0], {"tag_ids": [ODD]})]
