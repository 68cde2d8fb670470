"""One operating system of switches per module; each registers itself in the table of switches.device."""
