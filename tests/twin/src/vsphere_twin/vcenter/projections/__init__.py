"""How the model looks through the properties of the vSphere API: one file per kind of object."""
