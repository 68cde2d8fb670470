"""What clients can ask the objects of the inventory to do: one file per kind of object."""
