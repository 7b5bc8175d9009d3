"""Support vector machines without models: an interior point, first-order steps, and certificates by multipliers."""
