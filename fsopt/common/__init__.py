"""What every package uses: arguments, the clock, files and locks, figures, plug-ins, changes of models."""
