"""Questions about any model: its infeasibility, its difference from another one."""
