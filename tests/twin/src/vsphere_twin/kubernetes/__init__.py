"""A Kubernetes API server with the operators of a GPU cluster, without containers."""
