"""PropertyCollector and PropertyFilter: reading many objects at once, and hearing of changes."""

from __future__ import annotations

import secrets

from pyVmomi import vmodl

from .. import fragments
from ..codec import Written
from ..registry import method, prop
from ..selection import Selection
from ..updates import Collector, Filter


@method("PropertyCollector", "RetrievePropertiesEx")
def retrieve_properties_ex(call, this, specSet, options=None):
    limit = options.maxObjects if options else None
    if limit is not None and limit < 1:
        raise vmodl.fault.InvalidArgument(msg="maxObjects must be at least 1.", invalidProperty="maxObjects")
    return _page(
        call, this, list(_selected(call, specSet)), min(filter(None, (limit, call.world.most_per_page)), default=None)
    )


@method("PropertyCollector", "ContinueRetrievePropertiesEx")
def continue_retrieve_properties_ex(call, this, token):
    call.require_session()
    remaining, limit = _taken(this, token)
    return _page(call, this, remaining, limit)


@method("PropertyCollector", "CancelRetrievePropertiesEx")
def cancel_retrieve_properties_ex(call, this, token):
    call.require_session()
    _taken(this, token)


@method("PropertyCollector", "RetrieveProperties")
def retrieve_properties(call, this, specSet):
    return Written(
        [
            fragments.object_content("returnval", call.reader, entity, selection)
            for selection, entity in _selected(call, specSet)
        ]
    )


@method("PropertyCollector", "CreateFilter")
def create_filter(call, this, spec, partialUpdates):
    call.require_session()
    selection = Selection(spec, call.resolve, call.version)
    made = call.session.add(Filter(call.session.new_moid(), this, spec, selection, partialUpdates))
    this.add_filter(made)
    return made


@method("PropertyFilter", "DestroyPropertyFilter")
def destroy_property_filter(call, this):
    call.session.objects.pop(this.moid, None)
    this.collector.drop_filter(this)


@method("PropertyCollector", "CreatePropertyCollector")
def create_property_collector(call, this):
    call.require_session()
    return call.session.add(Collector(call.session.new_moid(), call.world))


@method("PropertyCollector", "DestroyPropertyCollector")
def destroy_property_collector(call, this):
    if this.moid == "propertyCollector":
        raise vmodl.fault.NotSupported(msg="The session's own property collector cannot be destroyed.")
    call.session.objects.pop(this.moid, None)
    for filter_ in this.filters.values():
        call.session.objects.pop(filter_.moid, None)
    this.cancel()


@method("PropertyCollector", "WaitForUpdatesEx")
def wait_for_updates_ex(call, this, version=None, options=None):
    call.require_session()
    limit = options.maxObjectUpdates if options else None
    max_wait_s = options.maxWaitSeconds if options else None
    for name, value in (("maxObjectUpdates", limit), ("maxWaitSeconds", max_wait_s)):
        if value is not None and value < (name == "maxObjectUpdates"):
            raise vmodl.fault.InvalidArgument(msg=f"{name} cannot be {value}.", invalidProperty=name)
    return Written([this.wait(call, version, limit, max_wait_s)])


@method("PropertyCollector", "WaitForUpdates")
def wait_for_updates(call, this, version=None):
    call.require_session()
    return Written([this.wait(call, version)])


@method("PropertyCollector", "CheckForUpdates")
def check_for_updates(call, this, version=None):
    call.require_session()
    return Written([this.wait(call, version, max_wait_s=0)])


@method("PropertyCollector", "CancelWaitForUpdates")
def cancel_wait_for_updates(call, this):
    this.cancel()


@prop("PropertyCollector", "filter")
def filters(entity, world):
    return list(entity.filters.values())


@prop("PropertyFilter", "spec")
def spec_of(entity, world):
    return entity.spec


@prop("PropertyFilter", "partialUpdates")
def partial_updates(entity, world):
    return entity.partial_updates


def _selected(call, specs):
    """Each object once for each specification, before any of them is read."""
    selections = [Selection(spec, call.resolve, call.version) for spec in specs]
    for selection in selections:
        for start in selection.starts:
            call.require_access(start.entity)
    for selection in selections:
        for entity in selection.entities(call.reader):
            yield selection, entity


def _page(call, collector, selected, limit):
    selected = [(selection, entity) for selection, entity in selected if _exists(call, entity)]
    if not selected:
        return None
    now, later = (selected[:limit], selected[limit:]) if limit else (selected, [])
    out = ["<returnval>"]
    if later:
        token = secrets.token_hex(8)
        collector.pages[token] = (later, limit)
        out.append(f"<token>{token}</token>")
    out += [fragments.object_content("objects", call.reader, entity, selection) for selection, entity in now]
    out.append("</returnval>")
    return Written(out)


def _exists(call, entity):
    return call.world.get(entity.moid) is entity or call.session and call.session.objects.get(entity.moid) is entity


def _taken(collector, token):
    try:
        return collector.pages.pop(token)
    except KeyError:
        raise vmodl.fault.InvalidArgument(msg=f"There is no page {token}.", invalidProperty="token") from None
