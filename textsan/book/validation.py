"""A pytest plugin: nbval executes the stored notebooks, `compare` says whether they show what is stored."""

from nbval.plugin import IPyNbCell

from textsan.book import compare


def _compares_equal(item: IPyNbCell, outputs: list, stored: list, skip_compare=None) -> bool:
    """In place of nbval's own comparison, which knows strings only; what differs is what nbval reports."""
    tags = item.cell.metadata.get("tags", [])
    found = compare.output_differences(stored, outputs, item.cell_num + 1, "trained" in tags)
    item.comparison_traceback = [str(difference) for difference in found]
    return "varies" in tags or not item.comparison_traceback


def pytest_itemcollected(item) -> None:
    """Every cell runs and is compared, whatever nbval's own tags say."""
    if isinstance(item, IPyNbCell):
        item.compare_outputs = _compares_equal.__get__(item)
        item.options.update(check=True, skip=False)
