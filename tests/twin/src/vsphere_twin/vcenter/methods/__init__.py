"""Methods of the inventory's objects: one file per kind of object."""
