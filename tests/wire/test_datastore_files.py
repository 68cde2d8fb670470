"""Files on datastores arrive in full or not at all, whatever happens on the way."""

from __future__ import annotations

import contextlib
import hashlib
import io
import socket
import socketserver
import threading

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, hosts, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.datastore_file import DatastoreFiles, Place
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Rest

from vsphere_twin.model import files as model_files

from .drive import connection
from .vib_lab import ESX, OTHER, machine, seed

CONTENT = bytes(range(256)) * 4096
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()
TARGET = Place("datastore-01", "drivers/new/driver.zip")


@pytest.fixture
def running(twin):
    return twin(seed=seed(hosts=2))


@pytest.fixture
def open_files(tmp_path):
    """The files of a host, through a session of their own."""
    with contextlib.ExitStack() as stack:

        def opened(twin, host=ESX, name="sessions", **options):
            defaults = {key: option.get("default") for key, option in args.CONNECTION.items()}
            vcenter = session.connect({**defaults, **connection(twin, tmp_path / name), **options})
            stack.callback(vcenter.close)
            return vcenter, DatastoreFiles(vcenter, hosts.find_host(vcenter, host))

        yield opened


@pytest.fixture
def local(tmp_path):
    path = tmp_path / "driver.zip"
    path.write_bytes(CONTENT)
    return str(path)


def stored(twin):
    """{path: content} of all files but the depots of the seed."""
    store = next(iter(machine(twin).datastores.values()))
    with twin.world.lock:
        found = {path: store.files.get(path) for path in store.files.paths(deep=True)}
    return {path: file.data for path, file in found.items() if file is not None and not path.startswith("depots/")}


def disturb(vcenter, method, trouble, times=1):
    """Let trouble(send, body, headers) happen in place of the next requests of this kind."""
    wire = vcenter.wire
    send, left = wire.exchange, [times]

    @contextlib.contextmanager
    def exchange(verb, path, body=None, headers=None):
        if verb == method and left[0]:
            left[0] -= 1
            with trouble(lambda b, h: send(verb, path, b, h), body, headers) as response:
                yield response
        else:
            with send(verb, path, body, headers) as response:
                yield response

    wire.exchange = exchange


def followed(running, deed):
    """Trouble for disturb: a request is answered, and somebody does this before the answer is read."""

    @contextlib.contextmanager
    def trouble(send, body, headers):
        with send(body, headers) as response:
            with running.world.lock:
                deed()
            yield response

    return trouble


def cut_in_the_middle(send, body, headers):
    body.read(len(CONTENT) // 2)
    with (
        contextlib.suppress(OSError),
        send(io.BytesIO(CONTENT[:1000]), {**headers, "Content-Length": "1000"}) as answer,
    ):
        answer.read()
    raise ConnectionResetError("cut")


@contextlib.contextmanager
def altered(send, body, headers):
    with send(io.BytesIO(b"\xff" + CONTENT[1:]), headers) as response:
        yield response


def test_a_file_is_copied_with_the_folders_above_it(running, open_files, local):
    _vcenter, files = open_files(running)
    files.upload(local, TARGET, CHECKSUM)
    assert stored(running) == {TARGET.path: CONTENT}
    assert (files.size(TARGET), files.checksum(TARGET)) == (len(CONTENT), CHECKSUM)


def test_an_upload_that_is_cut_starts_again_and_leaves_one_whole_file(running, open_files, local, brisk):
    vcenter, files = open_files(running)
    disturb(vcenter, "PUT", cut_in_the_middle, times=2)
    files.upload(local, TARGET, CHECKSUM)
    assert stored(running) == {TARGET.path: CONTENT}


def test_bytes_that_changed_on_the_way_are_noticed_and_removed(running, open_files, local):
    vcenter, files = open_files(running)
    disturb(vcenter, "PUT", altered)
    with pytest.raises(OperatorError) as caught:
        files.upload(local, TARGET, CHECKSUM)
    assert caught.value.code == "upload_damaged"
    assert stored(running) == {}


def test_a_datastore_that_fills_up_meanwhile_is_reported(running, open_files, local, brisk):
    vcenter, files = open_files(running)
    store = next(iter(machine(running).datastores.values()))

    @contextlib.contextmanager
    def filled(send, body, headers):
        with running.world.lock:
            store.files.reserved += 1 << 50
        with send(body, headers) as response:
            yield response

    disturb(vcenter, "PUT", filled)
    with pytest.raises(OperatorError) as caught:
        files.upload(local, TARGET, CHECKSUM)
    assert caught.value.code == "no_disk_space"
    assert stored(running) == {}


def test_a_file_that_is_larger_than_the_datastore_is_not_sent(running, open_files, local):
    vcenter, files = open_files(running)
    sent = []

    @contextlib.contextmanager
    def noted(send, body, headers):
        sent.append(headers["Content-Length"])
        with send(body, headers) as response:
            yield response

    disturb(vcenter, "PUT", noted)
    with running.world.lock:
        next(iter(machine(running).datastores.values())).files.reserved += 1 << 50
    with pytest.raises(OperatorError) as caught:
        files.upload(local, TARGET, CHECKSUM)
    assert (caught.value.code, sent) == ("no_disk_space", [])


def test_a_session_that_ended_is_renewed_and_the_upload_goes_on(running, open_files, local):
    _vcenter, files = open_files(running)
    files.size(TARGET)
    running.control.drop_sessions()
    files.upload(local, TARGET, CHECKSUM)
    assert stored(running) == {TARGET.path: CONTENT}


def test_two_hosts_that_copy_the_same_file_at_once_do_not_disturb_each_other(running, open_files, local):
    errors = []

    def upload(files):
        try:
            files.upload(local, TARGET, CHECKSUM)
        except OperatorError as error:
            errors.append(error)

    work = [
        threading.Thread(target=upload, args=(open_files(running, host, name)[1],))
        for host, name in ((ESX, "one"), (OTHER, "two"))
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(120)
    assert errors == []
    assert stored(running) == {TARGET.path: CONTENT}


@pytest.mark.parametrize("cuts", [True, False], ids=["a server that cuts", "a server that sends all"])
def test_a_part_of_a_file_can_be_read(running, open_files, local, cuts):
    vcenter, files = open_files(running)
    files.upload(local, TARGET, CHECKSUM)

    @contextlib.contextmanager
    def whole(send, body, headers):
        with send(body, {key: value for key, value in headers.items() if key != "Range"}) as response:
            yield response

    if not cuts:
        disturb(vcenter, "GET", whole, times=100)
    with files.open(TARGET) as file:
        file.seek(-1000, io.SEEK_END)
        assert file.read() == CONTENT[-1000:]
        file.seek(5)
        assert file.read(10) == CONTENT[5:15]


class Proxy(socketserver.ThreadingTCPServer):
    """An HTTP proxy that only tunnels; asked holds where to."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        self.asked = []
        super().__init__(("127.0.0.1", 0), Tunnel)


class Tunnel(socketserver.StreamRequestHandler):
    def handle(self):
        address = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            pass
        self.server.asked.append(address)
        host, _colon, port = address.rpartition(":")
        with socket.create_connection((host, int(port))) as there:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=pump, args=(there, self.connection))
            back.start()
            pump(self.connection, there)
            back.join()


def pump(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def test_files_and_rest_services_are_reached_through_the_same_proxy(running, open_files, local):
    with Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        vcenter, files = open_files(running, proxy_host="127.0.0.1", proxy_port=proxy.server_address[1])
        files.upload(local, TARGET, CHECKSUM)
        rest = Rest(vcenter)
        assert rest.is_image_managed(hosts.find_host(vcenter, ESX)) is False
        rest.close()
        vcenter.close()
        proxy.shutdown()
    assert set(proxy.asked) == {f"{running.host}:{running.port}"}
    assert stored(running) == {TARGET.path: CONTENT}


def test_what_is_not_there_has_no_size_no_content_and_nothing_to_remove(running, open_files):
    _vcenter, files = open_files(running)
    assert (files.size(TARGET), files.open(TARGET), files.checksum(TARGET)) == (None, None, None)
    files.remove(TARGET)


def test_a_file_is_removed_and_names_with_blanks_and_umlauts_are_no_trouble(running, open_files, local):
    _vcenter, files = open_files(running)
    odd = Place("datastore-01", "mein Ordner/Größe & Maß #1?.zip")
    files.upload(local, odd, CHECKSUM)
    assert stored(running) == {odd.path: CONTENT}
    assert files.checksum(odd) == CHECKSUM
    files.remove(odd)
    assert stored(running) == {}


def test_a_datastore_is_found_by_its_uuid_too(running, open_files):
    _vcenter, files = open_files(running)
    store = next(iter(machine(running).datastores.values()))
    assert files.known(Place(store.uuid, "x.zip")) == Place("datastore-01", "x.zip")


def test_what_a_depot_says_of_itself_is_read_without_fetching_all_of_it(running, open_files, local):
    vcenter, files = open_files(running)
    files.upload(local, TARGET, CHECKSUM)
    assert files.part(TARGET, 256, 300) == (CONTENT[256:556], True)
    with contextlib.closing(files.open(TARGET)) as file:
        file.seek(-100, io.SEEK_END)
        running.requests.clear()
        assert file.read() == CONTENT[-100:]
    assert running.requests["GET /folder"] == 1


def test_a_killed_run_of_the_same_host_that_goes_on_and_names_the_file_first_is_no_error(running, open_files, local):
    vcenter, files = open_files(running)
    store = next(iter(machine(running).datastores.values()))

    def named():
        (draft,) = [path for path in store.files.paths(deep=True) if path.endswith(".part")]
        model_files.move(running.world, store, draft, store, TARGET.path)

    disturb(vcenter, "PUT", followed(running, named))
    files.upload(local, TARGET, CHECKSUM)
    assert stored(running) == {TARGET.path: CONTENT}


def test_another_file_that_came_there_meanwhile_is_not_replaced(running, open_files, local):
    vcenter, files = open_files(running)
    store = next(iter(machine(running).datastores.values()))
    disturb(vcenter, "PUT", followed(running, lambda: store.files.put(TARGET.path, b"theirs")))
    with pytest.raises(OperatorError):
        files.upload(local, TARGET, CHECKSUM)
    assert stored(running) == {TARGET.path: b"theirs"}


def test_a_draft_that_cannot_be_given_its_name_is_reported_with_the_reason_of_vcenter(running, open_files, local):
    _vcenter, files = open_files(running)
    running.world.faults.fail_tasks("MoveDatastoreFile_Task", message="The datastore is read-only.")
    with pytest.raises(OperatorError, match="The datastore is read-only"):
        files.upload(local, TARGET, CHECKSUM)
    assert TARGET.path not in stored(running)
