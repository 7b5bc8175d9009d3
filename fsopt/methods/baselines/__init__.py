"""Methods of no paper of ours, which the papers compare with."""
