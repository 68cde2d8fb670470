"""Results of a run at their target: every file, the cause and the fix of a failure, and no password in texts."""

from __future__ import annotations

import base64
import hashlib
import http.server
import sys
import threading
from types import ModuleType

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.copies import checked, configured, copied
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.push import PushFailed, Target, journals_of, push

SECRET = "not-in-any-text"


class Server(http.server.BaseHTTPRequestHandler):
    """A strict WebDAV server: a collection and a file need the collection above them, and everything a login."""

    def _answer(self, code):
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _checked(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        wanted = "Basic " + base64.b64encode(f"ops:{SECRET}".encode()).decode()
        above, _slash, name = self.path.rstrip("/").rpartition("/")
        if self.headers.get("Authorization") != wanted:
            return body, 401
        if above not in self.server.collections:
            return body, 409
        return body, 0

    def do_MKCOL(self):
        _body, wrong = self._checked()
        # As nginx does.
        wrong = wrong or (0 if self.path.endswith("/") else 409)
        path = self.path.rstrip("/")
        known = path in self.server.collections
        if not wrong:
            self.server.collections.add(path)
        self._answer(wrong or (405 if known else 201))

    def do_PUT(self):
        body, wrong = self._checked()
        if not wrong:
            self.server.files[self.path] = body
        self._answer(wrong or self.server.put)

    def log_message(self, *_words):
        pass


@pytest.fixture
def webdav():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.collections, server.files, server.put = {"", "/results"}, {}, 201
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with server:
        yield server
        server.shutdown()
    thread.join()


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "20260101-020000 a"
    (folder / "training" / "rank 0").mkdir(parents=True)
    (folder / "stages.json").write_text("{}")
    (folder / "training" / "rank 0" / "log").write_bytes(b"\0\xff")
    (folder / "link").symlink_to("/etc/passwd")
    return folder


def address(server, path="/results"):
    return f"http://127.0.0.1:{server.server_port}{path}"


def test_webdav_gets_every_file_twice_in_a_row(webdav, run):
    target = Target(address(webdav), "ops", SECRET)
    made = [push(str(run), target) for _number in range(2)]
    assert made == [address(webdav, "/results/20260101-020000%20a")] * 2
    name = "/results/20260101-020000%20a"
    assert webdav.files == {f"{name}/stages.json": b"{}", f"{name}/training/rank%200/log": b"\0\xff"}


def test_a_directory_gets_every_file_and_no_link(run, tmp_path):
    (tmp_path / "target").mkdir()
    (run / "stages.json").chmod(0o600)
    made = [push(str(run), Target(str(tmp_path / "target"))) for _number in range(2)]
    assert made == [str(tmp_path / "target" / run.name)] * 2
    assert (tmp_path / "target" / run.name / "stages.json").stat().st_mode & 0o777 == 0o600
    found = [path for path in (tmp_path / "target").rglob("*") if path.is_file()]
    assert {path.name: path.read_bytes() for path in found} == {"stages.json": b"{}", "log": b"\0\xff"}
    assert push(str(run), Target(str(tmp_path))) == str(run)


def test_the_journal_of_a_run_is_copied_to_its_place_below_the_results(webdav, run, tmp_path):
    folder = tmp_path / "journal" / "vc_gpu"
    folder.mkdir(parents=True)
    for name in (run.name, "earlier"):
        (folder / f"{name}.jsonl").write_text(f"{name}\n")
    (folder / f"{run.name}.jsonl").chmod(0o600)
    (tmp_path / "target").mkdir()
    journals = journals_of(str(folder), {run.name, "none"})
    push(str(run), Target(str(tmp_path / "target")), journals)
    (copied,) = (tmp_path / "target" / "journal").rglob("*.jsonl")
    assert copied == tmp_path / "target" / "journal" / "vc_gpu" / f"{run.name}.jsonl"
    assert (copied.read_text(), copied.stat().st_mode & 0o777) == (f"{run.name}\n", 0o600)
    push(str(run), Target(address(webdav), "ops", SECRET), journals)
    assert webdav.files["/results/journal/vc_gpu/20260101-020000%20a.jsonl"] == f"{run.name}\n".encode()
    assert journals_of("", {run.name}) == {}


@pytest.mark.parametrize("folder, place", [("drift/7", "drift/7"), ("results/7", "7")])
def test_a_comparison_stays_below_the_folder_of_all_comparisons(tmp_path, folder, place):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "drift.json").write_text("{}")
    (tmp_path / "target").mkdir()
    assert push(str(tmp_path / folder), Target(str(tmp_path / "target"))) == str(tmp_path / "target" / place)
    assert (tmp_path / "target" / place / "drift.json").is_file()


def test_a_file_is_copied_by_its_name(webdav, tmp_path):
    (tmp_path / "site-capture.zip").write_bytes(b"PK")
    (tmp_path / "site-capture.secret").write_bytes(b"names")
    push(str(tmp_path / "site-capture.zip"), Target(address(webdav), "ops", SECRET))
    assert webdav.files == {"/results/site-capture.zip": b"PK"}


def test_the_check_of_a_target_writes_a_file_or_names_the_cause(webdav, tmp_path, monkeypatch):
    monkeypatch.setenv("AIREADY_RESULTS_USER", "ops")
    monkeypatch.setenv("AIREADY_RESULTS_PASSWORD", SECRET)
    assert checked("/srv/results/7", address(webdav)) == ""
    assert list(webdav.files) == ["/results/7/access.txt"]
    webdav.put = 403
    assert "no right to write" in checked("/srv/results/7", address(webdav))
    monkeypatch.setenv("AIREADY_RESULTS_PASSWORD", "wrong")
    assert "rejected the login" in checked("/srv/results/7", address(webdav))
    assert copied(str(tmp_path), str(tmp_path / "none"))["problem"].endswith("does not exist. Create or mount it.")


def failure(run, target):
    with pytest.raises(PushFailed) as caught:
        push(str(run), target)
    assert SECRET not in f"{caught.value}{target}"
    return str(caught.value)


@pytest.mark.parametrize(
    "target, reason",
    [
        (Target("results"), "neither an absolute path nor an https address"),
        (Target("ftp://files.example.org/results"), "neither an absolute path nor an https address"),
        (Target("https:///results"), "has no host"),
        (Target("s3:///results"), "has no bucket"),
        (Target("https://[::1/results"), "The address is invalid"),
        (Target("https://ops:x@files.example.org/results"), "The address contains a login"),
        (Target("http://files.example.org/results", "ops", SECRET), "without encryption. Use an https address"),
        (Target("/nothing/here"), "Create or mount it"),
    ],
)
def test_a_wrong_target_is_rejected_with_its_fix(run, target, reason):
    assert reason in failure(run, target)


def test_each_answer_of_a_server_has_its_cause(webdav, run):
    assert "rejected the login" in failure(run, Target(address(webdav), "ops", "wrong"))
    assert "The collection above it does not exist" in failure(run, Target(address(webdav, "/a/b"), "ops", SECRET))
    causes = {403: "no right to write", 507: "no space", 500: "answered 500 to PUT", 301: "redirects", 302: "redirects"}
    for code, cause in causes.items():
        webdav.put = code
        assert cause in failure(run, Target(address(webdav), "ops", SECRET))


def test_a_server_that_does_not_answer_is_named_by_its_error(webdav, run):
    port = webdav.server_port
    webdav.server_close()
    assert "ConnectionError" in failure(run, Target(f"http://127.0.0.1:{port}/results", "ops", SECRET))


def test_the_missing_library_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    assert "library requests is not installed" in failure(run, Target("https://files.example.org/results"))


class FakeError(Exception):
    """An error of botocore."""

    def __init__(self, code=""):
        self.response = {"Error": {"Code": code}}


@pytest.fixture
def boto(monkeypatch):
    """boto3 without a network: what the client was given, and the error that it raises."""
    seen = {"objects": {}, "raises": None}

    class Client:
        def put_object(self, *, Bucket, Key, Body, ContentMD5):
            if seen["raises"] is not None:
                raise seen["raises"]
            content = Body.read()
            assert ContentMD5 == base64.b64encode(hashlib.md5(content).digest()).decode()
            seen["objects"][f"{Bucket}/{Key}"] = content

    def client(service, *, verify, config, aws_access_key_id="", aws_secret_access_key=""):
        seen.update(service=service, verify=verify, config=config, login=(aws_access_key_id, aws_secret_access_key))
        return Client()

    boto3, config, exceptions = (ModuleType(name) for name in ("boto3", "botocore.config", "botocore.exceptions"))
    boto3.client, config.Config = client, dict
    names = ("BotoCoreError", "ClientError", "SSLError", "NoCredentialsError", "PartialCredentialsError")
    names += ("ParamValidationError",)
    for name in names:
        base = (FakeError,) if name in ("BotoCoreError", "ClientError") else (exceptions.BotoCoreError,)
        setattr(exceptions, name, type(name, base, {}))
    for module in (boto3, config, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    return seen, exceptions


def test_a_bucket_gets_every_file_below_its_prefix(run, boto, monkeypatch):
    seen, _exceptions = boto
    name = "results/ai/20260101-020000 a"
    assert push(str(run), Target("s3://results/ai/", "key", SECRET)) == f"s3://{name}"
    assert seen["objects"] == {f"{name}/stages.json": b"{}", f"{name}/training/rank 0/log": b"\0\xff"}
    assert (seen["service"], seen["login"], seen["verify"]) == ("s3", ("key", SECRET), None)
    assert seen["config"]["s3"] == {"addressing_style": "auto"}
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://s3.example.org")
    monkeypatch.setenv("AWS_CA_BUNDLE", "/ca.pem")
    push(str(run), Target("s3://results"))
    assert (seen["login"], seen["verify"]) == (("", ""), "/ca.pem")
    assert seen["config"]["s3"] == {"addressing_style": "path"}
    assert "results/20260101-020000 a/stages.json" in seen["objects"]


def test_each_error_of_a_bucket_has_its_cause(run, boto):
    seen, exceptions = boto
    causes = {
        "NoSuchBucket": "The bucket does not exist",
        "AccessDenied": "s3:PutObject",
        "InvalidAccessKeyId": "rejected the login",
        "SlowDown": "answered SlowDown",
    }
    for code, cause in causes.items():
        seen["raises"] = exceptions.ClientError(code)
        assert cause in failure(run, Target("s3://results", "key", SECRET))
    for name, cause in (
        ("SSLError", "AWS_CA_BUNDLE"),
        ("NoCredentialsError", "There is no login"),
        ("ParamValidationError", "name of the bucket is invalid"),
        ("BotoCoreError", "did not answer: BotoCoreError"),
    ):
        seen["raises"] = getattr(exceptions, name)()
        assert cause in failure(run, Target("s3://results"))


def test_the_missing_library_of_a_bucket_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "library boto3 is not installed" in failure(run, Target("s3://results"))


class Bucket(http.server.BaseHTTPRequestHandler):
    """An S3 server with one bucket and one access key. It compares the checksum of the content, not the signature."""

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = self.headers["Authorization"]
        code = "" if self.path.startswith("/results/") else "NoSuchBucket"
        code = code if signed.startswith("AWS4-HMAC-SHA256 Credential=key/") else "InvalidAccessKeyId"
        if not self.headers["Content-MD5"]:
            code = "InvalidRequest"
        if self.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            code = "XAmzContentSHA256Mismatch"
        self.server.files.update({} if code else {self.path: body})
        text = f"<Error><Code>{code}</Code><Message>m</Message></Error>".encode() if code else b""
        self.send_response(403 if code else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_words):
        pass


def test_the_real_library_sends_the_files_to_a_server(run, monkeypatch):
    pytest.importorskip("boto3")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket) as server:
        server.files = {}
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
        push(str(run), Target("s3://results/ai", "key", SECRET))
        assert "rejected the login" in failure(run, Target("s3://results", "other", SECRET))
        assert "The bucket does not exist" in failure(run, Target("s3://nothing", "key", SECRET))
        server.shutdown()
    thread.join()
    name = "/results/ai/20260101-020000%20a"
    assert server.files == {f"{name}/stages.json": b"{}", f"{name}/training/rank%200/log": b"\0\xff"}
    assert "did not answer: EndpointConnectionError" in failure(run, Target("s3://results", "key", SECRET))


def test_a_copy_of_nothing_is_no_copy(tmp_path):
    found = copied(str(tmp_path / "site-capture.zip"), str(tmp_path))
    assert (found["address"], found["problem"]) == ("", f"Cannot read {tmp_path}/site-capture.zip. It does not exist.")


@pytest.mark.parametrize(
    "text, target",
    [
        ("[aiready_vsphere]\nresults_target = /mnt/results ; each night\n", "/mnt/results"),
        ("[aiready_vsphere]\nresults_target = https://files.example.org/a%20b\n", "https://files.example.org/a%20b"),
        ("[defaults]\nforks = 5\n", ""),
        ("results_target = x\n", ""),
    ],
    ids=["comment", "percent", "another section", "no section"],
)
def test_the_target_of_a_configuration_file_is_read_as_ansible_reads_it(tmp_path, text, target):
    (tmp_path / "ansible.cfg").write_text(text)
    assert configured(str(tmp_path / "ansible.cfg")) == target
    assert (configured(""), configured(str(tmp_path / "missing"))) == ("", "")
