"""Pictures of a selection: no legend lies over the marks."""

import pytest

from fsopt.analysis.selection_answers import draw_shares
from fsopt.common.figures import new_figure


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_the_legend_of_the_shares_covers_no_bar(share):
    figure = new_figure(1)
    axes = figure.axes[0]
    draw_shares(axes, {f"x{j}": share for j in range(8)}, ["x0"], 0.2)
    figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    assert not any(box.overlaps(bar.get_window_extent()) for bar in axes.patches)
    assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1
