"""Methods of Aytug."""
