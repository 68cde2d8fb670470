"""Categories, tags and their objects."""

from __future__ import annotations

from dataclasses import dataclass, field

SINGLE, MULTIPLE = "SINGLE", "MULTIPLE"


class Refusal(Exception):
    """Refusal: the kind of the REST API's error, and a sentence."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind
        self.text = text


@dataclass
class Category:
    """Cardinality of tags per object, and the associable types; an empty list allows all of them."""

    id: str
    name: str
    description: str = ""
    cardinality: str = SINGLE
    kinds: list = field(default_factory=list)

    def takes(self, kind):
        """Return whether objects of a kind may have tags of this category."""
        return not self.kinds or kind in self.kinds


@dataclass
class Tag:
    """A tag, and the objects that have it: (kind, moid)."""

    id: str
    name: str
    category: Category
    description: str = ""
    objects: list = field(default_factory=list)


class Tagging:
    """All categories and tags of a vCenter, by id."""

    def __init__(self):
        self.categories: dict[str, Category] = {}
        self.tags: dict[str, Tag] = {}

    def add_category(self, world, name, description="", cardinality=SINGLE, kinds=()):
        """A new category; its name is not taken."""
        if not name:
            raise Refusal("INVALID_ARGUMENT", "A category needs a name.")
        if cardinality not in (SINGLE, MULTIPLE):
            raise Refusal("INVALID_ARGUMENT", f"{cardinality} is no cardinality.")
        self._refuse_category(name)
        made = Category(_id(world, "Category"), name, description, cardinality, _plain(kinds))
        self.categories[made.id] = made
        return made

    def change_category(self, made, name=None, description=None, cardinality=None, kinds=None):
        """Another name, description or more kinds; an object keeps the tags that it has."""
        if name is not None and name != made.name:
            self._refuse_category(name)
        if cardinality == SINGLE and made.cardinality == MULTIPLE:
            raise Refusal("INVALID_ARGUMENT", "The cardinality of a category does not go from MULTIPLE to SINGLE.")
        kinds = kinds if kinds is None else _plain(kinds)
        if kinds is not None and made.kinds and not set(made.kinds) <= set(kinds):
            raise Refusal("INVALID_ARGUMENT", "The associable types of a category are only added to.")
        made.name = made.name if name is None else name
        made.description = made.description if description is None else description
        made.cardinality = cardinality or made.cardinality
        made.kinds = made.kinds if kinds is None else kinds

    def drop_category(self, made):
        """A category goes with its tags."""
        del self.categories[made.id]
        self.tags = {key: tag for key, tag in self.tags.items() if tag.category is not made}

    def add_tag(self, world, name, category, description=""):
        """A new tag; its name is not taken in its category."""
        if not name:
            raise Refusal("INVALID_ARGUMENT", "A tag needs a name.")
        self._refuse_tag(category, name)
        made = Tag(_id(world, "Tag"), name, category, description)
        self.tags[made.id] = made
        return made

    def rename_tag(self, tag, name):
        """Another name."""
        if name != tag.name:
            self._refuse_tag(tag.category, name)
        tag.name = name

    def attachable(self, tag, kind, moid):
        """Return whether an object can get a tag that it does not have."""
        held = self.of(kind, moid)
        room = tag.category.cardinality == MULTIPLE or all(one.category is not tag.category for one in held)
        return tag not in held and room and tag.category.takes(kind)

    def attach(self, tag, kind, moid):
        """An object has a tag; of a category that takes one alone it has no other."""
        if not tag.category.takes(kind):
            raise Refusal("INVALID_ARGUMENT", f"The tag {tag.name} is not for objects of the type {kind}.")
        if (kind, moid) in tag.objects:
            return
        others = [one for one in self.of(kind, moid) if one.category is tag.category]
        if others and tag.category.cardinality == SINGLE:
            text = f"The object has the tag {others[0].name} of the category {tag.category.name}, which allows one."
            raise Refusal("INVALID_ARGUMENT", text)
        tag.objects.append((kind, moid))

    def detach(self, tag, kind, moid):
        """An object has a tag no longer; one that never had it is as well."""
        tag.objects = [one for one in tag.objects if one != (kind, moid)]

    def of(self, kind, moid):
        """The tags of an object."""
        return [tag for tag in self.tags.values() if (kind, moid) in tag.objects]

    def _refuse_category(self, name):
        if any(one.name.casefold() == name.casefold() for one in self.categories.values()):
            raise Refusal("ALREADY_EXISTS", f"There is a category {name} already.")

    def _refuse_tag(self, category, name):
        if any(one.category is category and one.name.casefold() == name.casefold() for one in self.tags.values()):
            raise Refusal("ALREADY_EXISTS", f"There is a tag {name} in the category {category.name} already.")


def _id(world, kind):
    return f"urn:vmomi:InventoryService{kind}:{world.new_uuid(kind)}:GLOBAL"


def _plain(kinds):
    """Types without their namespace, which Terraform sends but does not read [unsure: that vCenter removes it]."""
    return [one.removeprefix("urn:vim25:") for one in kinds]
