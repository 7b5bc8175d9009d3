"""What comes back and is saved: certificates, results, fits, their files."""
