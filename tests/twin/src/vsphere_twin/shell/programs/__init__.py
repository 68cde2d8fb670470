"""The programs of the ESXi shell, one file per vendor or purpose."""
