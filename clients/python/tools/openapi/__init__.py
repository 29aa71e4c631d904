"""Writes the models and operations of the client from openapi.yaml, at development time."""
