"""What every package uses: arguments, the clock, files, figures, plug-ins, changes of models."""
