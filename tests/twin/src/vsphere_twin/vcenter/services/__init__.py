"""The services that every client meets first: service instance, sessions, property collector, views."""
