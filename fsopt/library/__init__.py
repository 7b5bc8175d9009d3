"""The writers of the instance library, its pages, the table of conformance and the typed signatures."""
