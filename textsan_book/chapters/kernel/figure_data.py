"""An IPython extension: beside its picture, a figure is stored as the data that it draws, one artist a line.

Words, styles and numbers in data coordinates; neither fonts nor the place of anything on the page, which differ
from machine to machine. It is kept in the output's metadata, which pages and Jupyter do not show.
"""

import sys
from collections.abc import Iterator

import numpy as np
from IPython.core.formatters import BaseFormatter
from traitlets import Unicode

FIGURE_DATA = "figure-data"
_ROWS = 200  # of one artist that are written out


def _numbers(values) -> str:
    """Write rows of numbers, four digits each, rounding noise around zero as zero.

    Of more than `_ROWS` rows only some are written, and the mean of all, in which any change of one row shows.
    """
    if not np.size(values):
        return "nothing"
    values = np.atleast_2d(np.ma.filled(np.ma.asarray(values, dtype=float), np.nan))
    rows = values.reshape(values.shape[0], -1)
    finite = rows[np.isfinite(rows)]
    noise = 1e-13 * (abs(finite).max() if finite.size else 0)
    rows = np.where(abs(rows) <= noise, 0.0, rows)
    step = -(-len(rows) // _ROWS)
    texts = [" ".join(f"{value:.3e}" for value in row) for row in rows[::step]]
    if step > 1:
        means = (column[np.isfinite(column)].sum() / len(rows) for column in rows.T)
        texts.append(f"{len(rows)} rows, mean {' '.join(f'{mean:.6e}' for mean in means)}")
    return "; ".join(texts)


def _colours(colours) -> str:
    from matplotlib.colors import to_hex, to_rgba_array

    return " ".join(dict.fromkeys(to_hex(colour, keep_alpha=True) for colour in to_rgba_array(colours)))


def _label(artist) -> str:
    """The artist's label, those that matplotlib makes up left out."""
    label = str(artist.get_label())
    return "" if label.startswith("_") else f" {label!r}"


def _axis(name: str, axis) -> str:
    from matplotlib.category import StrCategoryFormatter
    from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

    # Limits that nobody set follow from what is drawn, which is compared itself.
    if getattr(axis.axes, f"get_autoscale{name}_on")():
        limits = "automatic, inverted" if axis.get_inverted() else "automatic"
    else:
        limits = _numbers(axis.get_view_interval())
    text = f"{name} {axis.get_label_text()!r} {axis.get_scale()} {limits}"
    if isinstance(axis.get_major_locator(), FixedLocator):  # chosen, not what fits beside the words
        text += f" at {_numbers(axis.get_majorticklocs())}"
    if isinstance(axis.get_major_formatter(), (FixedFormatter, FuncFormatter, StrCategoryFormatter)):
        text += f" ticks {[tick.get_text() for tick in axis.get_ticklabels()]}"
    return text


def _line(line) -> str:
    style = f"{_colours([line.get_color()])} line {line.get_linestyle()} {line.get_linewidth():g}"
    style += f" marker {line.get_marker()} {line.get_markersize():g} alpha {line.get_alpha()}"
    return f"line{_label(line)} {style}: {_numbers(line.get_xydata())}"


def _error_bars(container) -> str:
    """Points, `x: y [low, high]`: a coordinate with bars is an estimate, which may be compared by its interval."""
    line, _, bars = container.lines
    points = line.get_xydata() if line is not None else []
    drawn = [along for along, has in ((0, container.has_xerr), (1, container.has_yerr)) if has]
    ends = {a: [segment[:, a] for segment in bar.get_segments()] for a, bar in zip(drawn, bars, strict=True)}

    def coordinate(row: int, along: int) -> str:
        value = f"{points[row][along]:.3e}"
        return f"{value} [{', '.join(f'{end:.3e}' for end in ends[along][row])}]" if along in ends else value

    if any(len(points) != len(pairs) for pairs in ends.values()):  # bars without points
        texts = [_numbers(np.reshape(bar.get_segments(), (-1, 4))) for bar in bars] + [_numbers(points)]
    else:
        texts = [f"{coordinate(row, 0)}: {coordinate(row, 1)}" for row in range(len(points))]
    style = "" if line is None else f" {_colours([line.get_color()])} marker {line.get_marker()}"
    return f"error bars{_label(container)}{style}: {'; '.join(texts)}"


def _collection(collection) -> str:
    from matplotlib.collections import QuadMesh

    parts = [f"{type(collection).__name__}{_label(collection)}"]
    if collection.get_array() is not None:
        parts.append(f"values {_numbers(collection.get_array())} as {collection.get_cmap().name}")
    else:
        parts += [f"{_colours(c)}" for c in (collection.get_facecolor(), collection.get_edgecolor()) if len(c)]
    parts.append(f"lines {_numbers(collection.get_linewidths())} alpha {collection.get_alpha()}")
    offsets = np.ma.asarray(collection.get_offsets())
    if offsets.any():
        shapes = [_numbers(path.vertices) for path in collection.get_paths()]
        parts.append(f"points {_numbers(offsets)} of sizes {_numbers(collection.get_sizes())}: {shapes}")
    elif isinstance(collection, QuadMesh):
        corners = collection.get_coordinates()
        parts.append(f"grid {_numbers(corners[0])} by {_numbers(corners[:, 0])}")
    else:
        parts += [f"path {_numbers(path.vertices)}" for path in collection.get_paths()]
    return " ".join(parts)


def _patch(patch) -> str:
    vertices = patch.get_path().transformed(patch.get_patch_transform()).vertices
    return f"patch{_label(patch)} {_colours([patch.get_facecolor()])}: {_numbers(vertices)}"


def _image(image) -> str:
    values = f"{_numbers(image.get_array())} as {image.get_cmap().name}"
    return f"image {_numbers(image.get_clim())} over {_numbers(image.get_extent())}: {values}"


def _axes(axes) -> Iterator[str]:
    from matplotlib.container import ErrorbarContainer

    titles = [axes.get_title(loc) for loc in ("left", "center", "right")]
    yield f"axes {' '.join(filter(None, titles))!r} {_axis('x', axes.xaxis)} {_axis('y', axes.yaxis)}"
    if axes.get_label() == "<colorbar>":  # its gradient follows from its limits
        return
    bars = [container for container in axes.containers if isinstance(container, ErrorbarContainer)]
    parts = {id(part) for bar in bars for part in bar.get_children()}
    yield from (_error_bars(bar) for bar in bars)
    for artists, words in ((axes.lines, _line), (axes.collections, _collection), (axes.patches, _patch)):
        yield from (words(artist) for artist in artists if id(artist) not in parts)
    yield from (_image(image) for image in axes.images)
    for text in axes.texts:
        target = f" of {_numbers(text.xy)}" if hasattr(text, "xy") else ""
        yield f"text {text.get_text()!r} at {_numbers(text.get_position())}{target}"
    for table in axes.tables:
        yield f"table {[cell.get_text().get_text() for _, cell in sorted(table.get_celld().items())]}"
    if axes.get_legend():
        yield f"legend {[text.get_text() for text in axes.get_legend().get_texts()]}"
    for inner in axes.child_axes:
        yield from _axes(inner)


def figure_data(figure) -> list[str]:
    """Describe what a figure draws, one artist a line."""
    lines = [f"figure of {_numbers(figure.get_size_inches())} inches"]
    lines += [f"text {text.get_text()!r}" for text in figure.texts]
    lines += [f"legend {[text.get_text() for text in legend.get_texts()]}" for legend in figure.legends]
    for axes in figure.axes:
        lines += _axes(axes)
    return lines


class FigureData(BaseFormatter):
    """A representation without data, but with metadata, that IPython asks every displayed object for.

    It is not registered for a type: choosing figure formats takes figures out of every formatter's registry.
    """

    format_type = Unicode(FIGURE_DATA)

    def __call__(self, shown) -> tuple[None, list[str]] | None:
        drawing = sys.modules.get("matplotlib.figure")  # not imported: then nothing shown is a figure
        return (None, figure_data(shown)) if drawing and isinstance(shown, drawing.Figure) else None


def load_ipython_extension(shell) -> None:
    """Add the representation to those of the kernel's shell."""
    shell.display_formatter.formatters[FIGURE_DATA] = FigureData(parent=shell.display_formatter)
