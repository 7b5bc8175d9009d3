"""Questions about any model: its infeasibility, its sensitivity, its difference from another one."""
