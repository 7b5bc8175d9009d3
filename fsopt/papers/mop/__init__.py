"""The experiments of Bi (section 7): odd against even digits of MNIST."""
