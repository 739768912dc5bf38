"""Sandkit's driver inside the interpreter: runs programs and cells for the broker."""
