"""What writes the instance library, the type stubs and the tables; used in the repository, not in the wheel."""
