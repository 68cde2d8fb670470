"""esxcli: one table of commands, and the forms in which clients see them."""
