"""The ESXi shell over SSH: an interpreter of the commands that a host has, and of nothing else."""
