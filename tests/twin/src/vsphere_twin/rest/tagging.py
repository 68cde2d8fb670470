"""Tagging: categories, tags, and which objects have them."""

from __future__ import annotations

from vsphere_twin.model import tagging

from .api import Created, route
from .errors import RestError

BASE = "/api/cis/tagging"
ASSOCIATION = f"{BASE}/tag-association"


@route("GET", f"{BASE}/category")
def categories(request):
    """The ids of all categories."""
    return list(request.world.tagging.categories)


@route("POST", f"{BASE}/category")
def create_category(request):
    """A new category."""
    body = request.body
    made = _tried(
        request.world.tagging.add_category,
        request.world,
        body.get("name", ""),
        body.get("description", ""),
        body.get("cardinality", tagging.SINGLE),
        body.get("associable_types", ()),
    )
    return Created(made.id)


@route("GET", f"{BASE}/category/{{category}}")
def category_of(request, category):
    """Return one category."""
    found = _category(request, category)
    return {
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "cardinality": found.cardinality,
        "associable_types": found.kinds,
        "used_by": [],
    }


@route("PATCH", f"{BASE}/category/{{category}}")
def update_category(request, category):
    """Change the fields that the request names."""
    body, found = request.body, _category(request, category)
    _tried(
        request.world.tagging.change_category,
        found,
        body.get("name"),
        body.get("description"),
        body.get("cardinality"),
        body.get("associable_types"),
    )


@route("DELETE", f"{BASE}/category/{{category}}")
def delete_category(request, category):
    """The category and its tags."""
    request.world.tagging.drop_category(_category(request, category))


@route("GET", f"{BASE}/tag")
def tags(request):
    """The ids of all tags."""
    return list(request.world.tagging.tags)


@route("POST", f"{BASE}/tag", action="list-tags-for-category")
def tags_of_category(request):
    """The ids of the tags of a category."""
    return _tags_of(request, request.body.get("category_id", ""))


@route("POST", f"{BASE}/tag/{{category}}", action="list-tags-for-category")
def tags_of_category_in_path(request, category):
    """The same, as it was before 7.0 Update 2."""
    return _tags_of(request, category)


@route("POST", f"{BASE}/tag")
def create_tag(request):
    """A new tag."""
    body = request.body
    category = _category(request, body.get("category_id", ""))
    made = _tried(
        request.world.tagging.add_tag, request.world, body.get("name", ""), category, body.get("description", "")
    )
    return Created(made.id)


@route("GET", f"{BASE}/tag/{{tag}}")
def tag_of(request, tag):
    """Return one tag."""
    return _shown(_tag(request, tag))


@route("PATCH", f"{BASE}/tag/{{tag}}")
def update_tag(request, tag):
    """Change the fields that the request names."""
    found = _tag(request, tag)
    if request.body.get("name") is not None:
        _tried(request.world.tagging.rename_tag, found, request.body["name"])
    if request.body.get("description") is not None:
        found.description = request.body["description"]


@route("DELETE", f"{BASE}/tag/{{tag}}")
def delete_tag(request, tag):
    """The tag, on all objects too."""
    request.world.tagging.tags.pop(_tag(request, tag).id)


@route("POST", ASSOCIATION, action="list-attached-tags")
def attached_tags(request):
    """The ids of the tags of an object."""
    return [tag.id for tag in request.world.tagging.of(*_object(request, request.body.get("object_id")))]


@route("POST", ASSOCIATION, action="list-attachable-tags")
def attachable_tags(request):
    """The ids of the tags that an object can get; those that it has are left out."""
    held, wanted = request.world.tagging, _object(request, request.body.get("object_id"))
    return [tag.id for tag in held.tags.values() if held.attachable(tag, *wanted)]


@route("POST", ASSOCIATION, action="list-attached-tags-on-objects")
def attached_tags_on_objects(request):
    """The tags of several objects; those without any are left out."""
    found = []
    for one in request.body.get("object_ids") or []:
        ids = [tag.id for tag in request.world.tagging.of(*_object(request, one))]
        if ids:
            found.append({"object_id": one, "tag_ids": ids})
    return found


@route("POST", ASSOCIATION, action="list-attached-objects-on-tags")
def attached_objects_on_tags(request):
    """The objects of several tags; tags without any are left out."""
    found = [_tag(request, one) for one in request.body.get("tag_ids") or []]
    return [{"tag_id": tag.id, "object_ids": _objects(request, tag)} for tag in found if _objects(request, tag)]


@route("POST", ASSOCIATION, action="attach-multiple-tags-to-object")
def attach_several_tags(request):
    """Several tags on one object; each that cannot be is named."""
    wanted = _object(request, request.body.get("object_id"))
    attach_one = request.world.tagging.attach
    return _several(lambda one: attach_one(_tag(request, one), *wanted), _tag_ids(request))


@route("POST", ASSOCIATION, action="detach-multiple-tags-from-object")
def detach_several_tags(request):
    """Several tags off one object."""
    wanted = _object(request, request.body.get("object_id"))
    detach_one = request.world.tagging.detach
    return _several(lambda one: detach_one(_tag(request, one), *wanted), _tag_ids(request))


@route("POST", f"{ASSOCIATION}/{{tag}}", action="attach")
def attach(request, tag):
    """A tag on an object."""
    _tried(request.world.tagging.attach, _tag(request, tag), *_object(request, request.body.get("object_id")))


@route("POST", f"{ASSOCIATION}/{{tag}}", action="detach")
def detach(request, tag):
    """A tag off an object."""
    request.world.tagging.detach(_tag(request, tag), *_object(request, request.body.get("object_id")))


@route("POST", f"{ASSOCIATION}/{{tag}}", action="attach-tag-to-multiple-objects")
def attach_to_several(request, tag):
    """A tag on several objects; each that cannot have it is named."""
    found, objects = _tag(request, tag), request.body.get("object_ids") or []
    attach_one = request.world.tagging.attach
    return _several(lambda one: attach_one(found, *_object(request, one)), objects)


@route("POST", f"{ASSOCIATION}/{{tag}}", action="detach-tag-from-multiple-objects")
def detach_from_several(request, tag):
    """A tag off several objects."""
    found, objects = _tag(request, tag), request.body.get("object_ids") or []
    detach_one = request.world.tagging.detach
    return _several(lambda one: detach_one(found, *_object(request, one)), objects)


@route("POST", f"{ASSOCIATION}/{{tag}}", action="list-attached-objects")
def attached_objects(request, tag):
    """The objects that have a tag."""
    return _objects(request, _tag(request, tag))


def _several(do, names):
    """Work for each name; an unknown or unsuitable tag or object adds a message, and the others go on."""
    messages = []
    for name in names:
        try:
            do(name)
        except (tagging.Refusal, RestError) as problem:
            text = problem.text if isinstance(problem, tagging.Refusal) else problem.texts[0]
            messages.append({"id": "com.vmware.cis.tagging", "default_message": text, "args": []})
    return {"success": not messages, "error_messages": messages}


def _tags_of(request, category):
    found = _category(request, category)
    return [tag.id for tag in request.world.tagging.tags.values() if tag.category is found]


def _tag_ids(request):
    return request.body.get("tag_ids") or []


def _shown(tag):
    return {
        "id": tag.id,
        "name": tag.name,
        "category_id": tag.category.id,
        "description": tag.description,
        "used_by": [],
    }


def _objects(request, tag):
    """Return the objects that still exist."""
    return [{"id": moid, "type": kind} for kind, moid in tag.objects if request.world.get(moid) is not None]


def _object(request, given):
    given = given or {}
    found = request.world.get(str(given.get("id")))
    if found is None or found.kind != given.get("type"):
        raise RestError("NOT_FOUND", f"The object {given.get('type')}:{given.get('id')} does not exist.")
    return found.kind, found.moid


def _category(request, name):
    return _known(request.world.tagging.categories, name, "category")


def _tag(request, name):
    return _known(request.world.tagging.tags, name, "tag")


def _known(held, name, what):
    if name not in held:
        raise RestError("NOT_FOUND", f"The {what} with id {name} does not exist.")
    return held[name]


def _tried(do, *arguments):
    try:
        return do(*arguments)
    except tagging.Refusal as problem:
        raise RestError(problem.kind, problem.text) from problem
