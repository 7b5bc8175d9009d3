"""What writes the instance library, its pages and the table of conformance."""
