"""One function for each table and figure of the papers: ours beside the printed numbers, with a verdict for each."""
