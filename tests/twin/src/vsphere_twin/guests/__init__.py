"""Guests that are real Linux: the VMs of the twin as systemd containers, on networks with the MTU of the model."""
