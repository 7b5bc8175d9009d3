"""The order of features by their names."""

from fsopt.data.names import places_by_name


def test_numbers_in_names_count_as_such():
    names = ["x10", "x2", "b", "x2a", "x02", "7", "", "x2"[::-1], "x" + "9" * 5000]
    order = sorted(range(len(names)), key=places_by_name(names).tolist().__getitem__)
    assert [names[j] for j in order] == ["", "2x", "7", "b", "x02", "x2", "x2a", "x10", "x" + "9" * 5000]
