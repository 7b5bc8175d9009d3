"""Methods of Bi."""
