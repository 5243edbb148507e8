"""Commands that keep the book consistent: run them as ``python -m tools.NAME`` or through the Makefile."""
