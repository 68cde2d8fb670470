"""Tables for `kubectl get`, pages, resource versions and the start of a watch."""

from __future__ import annotations

import itertools

MAPS, PODS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/pods"
ONE = "fieldSelector=metadata.name=one"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def config(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def ask(client, path, accept="application/json"):
    headers = {"Authorization": f"Bearer {client.token}", "Accept": accept}
    return client.service.handle("GET", path, headers)


def test_objects_are_shown_as_a_table(client):
    client.create(MAPS, config("one", a="1", b="2"))
    body = ask(client, f"{MAPS}?{ONE}", TABLE).body
    (row,) = body["rows"]
    assert (body["kind"], body["metadata"]["resourceVersion"]) == ("Table", str(client.cluster.revision))
    assert [one["name"] for one in body["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert (row["cells"][:2], row["object"]["metadata"]["name"]) == (["one", "2"], "one")
    assert "object" not in ask(client, f"{MAPS}/one?includeObject=None", TABLE).body["rows"][0]


def test_a_table_of_nodes_has_their_status(client):
    status = {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.33.4"}}
    labels = {"node-role.kubernetes.io/control-plane": ""}
    node = {"metadata": {"name": "n1", "labels": labels}, "spec": {"unschedulable": True}, "status": status}
    client.cluster.create("nodes", node)
    (row,) = ask(client, "/api/v1/nodes", TABLE).body["rows"]
    assert row["cells"][1:3] == ["Ready,SchedulingDisabled", "control-plane"]
    assert row["cells"][4] == "v1.33.4"


def test_objects_of_clients_with_few_fields_are_shown(client):
    client.create("/api/v1/nodes", {"metadata": {"name": "bare"}})
    (row,) = ask(client, "/api/v1/nodes", TABLE).body["rows"]
    assert row["cells"][:3] == ["bare", "Unknown", "<none>"]
    events = "/api/v1/namespaces/default/events"
    for name, time in (("a", "2026-01-01T10:00:00.5+02:00"), ("b", "yesterday")):
        about = {"metadata": {"name": name}, "involvedObject": {"kind": "Pod"}, "lastTimestamp": time}
        assert client.create(events, about)[0] == 201
    rows = ask(client, events, TABLE).body["rows"]
    assert rows[1]["cells"][0] == "<unknown>"


def test_a_missing_object_is_no_table(client):
    answer = ask(client, f"{MAPS}/nope", TABLE)
    assert (answer.status, answer.body["kind"]) == (404, "Status")


def test_metadata_alone_is_shown(client):
    client.create(MAPS, config("one", a="1"))
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    body = ask(client, f"{MAPS}?{ONE}", accept).body
    assert body["kind"] == "PartialObjectMetadataList"
    assert [sorted(one) for one in body["items"]] == [["apiVersion", "kind", "metadata"]]


def test_a_deletion_between_two_pages_skips_no_object(client):
    for name in "abcd":
        client.create(MAPS, config(name))
    first = client.get(f"{MAPS}?limit=2")
    client.call("DELETE", f"{MAPS}/a")
    second = client.get(f"{MAPS}?limit=2&continue={first['metadata']['continue']}")
    assert [one["metadata"]["name"] for one in second["items"]] == ["c", "d"]


def test_a_list_at_another_version_is_never_the_present_one(client):
    client.create(MAPS, config("one"))
    exact = "resourceVersionMatch=Exact"
    assert client.call("GET", f"{MAPS}?resourceVersion=x")[0] == 400
    status, body = client.call("GET", f"{MAPS}?resourceVersion=99999&{exact}")
    assert (status, body["reason"], body["details"]["causes"][0]["reason"]) == (
        504,
        "Timeout",
        "ResourceVersionTooLarge",
    )
    assert client.call("GET", f"{MAPS}?watch=1&resourceVersion=99999")[0] == 504
    assert client.call("GET", f"{MAPS}?resourceVersion=1&{exact}")[0] == 410
    assert client.call("GET", f"{MAPS}?resourceVersion={client.cluster.revision}&{exact}")[0] == 200


def test_initial_events_end_with_a_bookmark(client):
    """Informers of client-go 1.35 wait for it."""
    client.create(MAPS, config("one"))
    query = f"{ONE}&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    added, mark = itertools.islice(ask(client, f"{MAPS}?{query}").stream, 2)
    assert (added["type"], mark["type"]) == ("ADDED", "BOOKMARK")
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_pod_without_an_earlier_container_has_no_previous_log(client):
    spec = {"containers": [{"name": "c", "image": "busybox"}], "nodeName": "n1"}
    status = {"containerStatuses": [{"name": "c", "state": {"running": {}}}]}
    client.cluster.create("pods", {"metadata": {"name": "p"}, "spec": spec, "status": status})
    status, body = client.call("GET", f"{PODS}/p/log?previous=true")
    assert (status, body["message"]) == (400, 'previous terminated container "c" in pod "p" not found')


def test_a_number_beyond_64_bits_is_refused(client):
    for digits in ("9" * 5000, str(2**64)):
        status, body = client.call("GET", f"{MAPS}?resourceVersion={digits}")
        assert (status, body["message"].rpartition(": ")[2]) == (400, "value out of range")
        assert client.call("GET", f"{MAPS}?limit={digits}")[0] == 400
        assert client.call("GET", f"{MAPS}?labelSelector=a>{digits}")[0] == 400
    assert client.call("GET", f"{MAPS}?resourceVersion={'0' * 5000}1")[0] == 200
    assert client.call("GET", f"{MAPS}?resourceVersion=\N{ARABIC-INDIC DIGIT ONE}")[0] == 400
