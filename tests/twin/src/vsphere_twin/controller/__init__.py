"""An automation controller: the API of AWX 24.6.1 for objects as code and launches, strict on fields and types."""
