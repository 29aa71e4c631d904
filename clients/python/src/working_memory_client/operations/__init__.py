"""One function an operation: what is asked, without asking it.

Written by tools/generate.py.
"""
