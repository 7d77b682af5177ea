"""Servers that tests talk to: the standard library alone, and a tokenizer that counts."""
