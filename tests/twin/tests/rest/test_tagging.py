"""Tags of categories whose types have a namespace, as Terraform and installers of clusters create them."""

from __future__ import annotations


def test_types_of_a_category_may_have_their_namespace(client):
    category = {"name": "c", "description": "", "cardinality": "MULTIPLE", "associable_types": ["urn:vim25:HostSystem"]}
    made = client.ask("POST", "/api/cis/tagging/category", category)
    assert client.ask("GET", f"/api/cis/tagging/category/{made}")["associable_types"] == ["HostSystem"]
    tag = client.ask("POST", "/api/cis/tagging/tag", {"name": "t", "description": "", "category_id": made})
    attach = f"/api/cis/tagging/tag-association/{tag}?action=attach"
    (host, _other), (store,) = client.ask("GET", "/api/vcenter/host"), client.ask("GET", "/api/vcenter/datastore")
    client.ask("POST", attach, {"object_id": {"type": "HostSystem", "id": host["host"]}})
    wrong = {"object_id": {"type": "Datastore", "id": store["datastore"]}}
    assert client.refused("POST", attach, wrong) == (400, "INVALID_ARGUMENT")
