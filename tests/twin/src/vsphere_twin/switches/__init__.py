"""The physical switches of the twin: what they are cabled to, their command lines, and what they do to packets."""
