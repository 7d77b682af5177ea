"""Servers that tests talk to, from the standard library alone."""
