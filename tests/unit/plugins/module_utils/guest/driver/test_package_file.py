# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A driver that comes from an address: fetched from a server of HTTP, kept while it is needed, and gone afterwards."""

from __future__ import annotations

import errno
import hashlib
import http.server
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import package_file, source

RUN = "NVIDIA-Linux-x86_64-550.54.15-grid.run"
CONTENT = b"driver " * 20


class Handler(http.server.BaseHTTPRequestHandler):
    """Sends the whole file, half of it, or nothing, as the first part of the path says."""

    def do_GET(self):
        kind = self.path.split("/")[1]
        self.send_response(404 if kind == "gone" else 200)
        if kind != "unsized":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[: len(CONTENT) // 2] if kind == "half" else CONTENT)

    def log_message(self, *_words):
        pass


@pytest.fixture(scope="module")
def server():
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(package_file, "FOLDER", str(tmp_path))
    return tmp_path


def at_hand(place):
    return package_file.at_hand("Guest", source.of(place), None)


@pytest.mark.parametrize("kind", ["whole", "unsized"])
def test_file_is_readable_by_the_package_manager_and_gone_afterwards(server, folder, kind):
    with at_hand(f"{server}/{kind}/{RUN}") as path:
        place = Path(path)
        assert (place.parent.parent, place.name, place.read_bytes()) == (folder, RUN, CONTENT)
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o755
        assert place.parent.name.startswith(".aiready-")
    assert list(folder.iterdir()) == []


def test_file_on_the_guest_is_used_where_it_is(folder):
    with at_hand(f"/srv/{RUN}") as path:
        assert path == f"/srv/{RUN}"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "kind, reported",
    [
        ("half", f"cannot download {RUN}. The connection ended after 70 of 140 bytes. Run the task again."),
        (
            "gone",
            f"cannot download {RUN}. The error is: HTTP Error 404: Not Found. "
            "Check the URL, the proxy and the clock of the guest, then run the task again.",
        ),
    ],
)
def test_what_was_not_fetched_leaves_nothing(server, folder, kind, reported):
    with pytest.raises(OperatorError) as raised, at_hand(f"{server}/{kind}/{RUN}"):
        pass
    assert (raised.value.code, list(folder.iterdir())) == ("not_fetched", [])
    assert str(raised.value).endswith(reported)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_is_reported_as_one(folder, monkeypatch, number):
    def full(*_arguments, **_options):
        raise OSError(number, "full")

    monkeypatch.setattr(package_file, "open_url", full)
    with pytest.raises(OperatorError) as raised, at_hand(f"http://192.0.2.1/{RUN}"):
        pass
    assert (raised.value.code, list(folder.iterdir())) == ("disk_full", [])
    assert "The disk is full. Free space on the file system of /var/tmp, then run" in str(raised.value)


def test_secret_of_an_address_is_in_no_message(folder, monkeypatch):
    address = f"https://user:secret@192.0.2.1/{RUN}"

    def fails(place, **_options):
        raise OSError(errno.EIO, f"cannot open {place}")

    monkeypatch.setattr(package_file, "open_url", fails)
    with pytest.raises(OperatorError) as raised, at_hand(address):
        pass
    assert f"cannot open {RUN}" in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("given", [hashlib.sha256(CONTENT).hexdigest(), hashlib.sha256(CONTENT).hexdigest().upper()])
def test_checksum_is_compared_in_either_case(tmp_path, given):
    path = tmp_path / RUN
    path.write_bytes(CONTENT)
    assert package_file._check_digest("Guest", "wanted", str(path), f"sha256:{given}") is None
    with pytest.raises(OperatorError) as raised:
        package_file._check_digest("Guest", "wanted", str(path), f"sha1:{given}")
    assert raised.value.code == "wrong_checksum"
    assert hashlib.sha1(CONTENT).hexdigest() in str(raised.value)


def test_file_that_is_not_there_yet_is_known_by_its_name_alone(tmp_path):
    found = source.of(str(tmp_path / RUN))
    assert package_file.known("Guest", found, None, None) == found
    assert package_file.known("Guest", replace(found, kind=source.URL), None, None).kind == source.URL
