"""Linear machines without models: penalties, one certificate, an interior point, first-order steps, active sets."""
