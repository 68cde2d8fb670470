"""The commands, one file per namespace of esxcli."""
