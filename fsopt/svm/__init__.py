"""Support vector machines without models: interior point, first-order steps, elimination, certificates."""
