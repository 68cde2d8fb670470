"""Properties of the vSphere API from the model: one file per kind of object."""
