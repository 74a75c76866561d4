"""The exponential storage's distances on a GPU: the numbers of the CPU within rounding, by torch in float64."""

import importlib.util
import shutil

import numpy as np

from textsan.text.embeddings import CANCELLATION


def choose_device(device: str) -> str:
    """The torch device to compute on: "cpu", "cuda", or whatever torch knows.

    Args:
        device: "auto" is "cuda" where torch finds a GPU, else "cpu".

    Raises:
        ValueError: a device that is not there.

    >>> choose_device("cpu")
    'cpu'
    """
    if device == "cpu":
        return device
    installed = importlib.util.find_spec("torch") is not None
    if device == "auto":
        # torch takes seconds to import: not where there is no driver.
        if not installed or shutil.which("nvidia-smi") is None:
            return "cpu"
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"
    if installed:
        import torch

        try:
            torch.empty(1, device=device)
            return device
        except (RuntimeError, AssertionError):
            pass
    raise ValueError(f"device: {device!r} is not available; pass 'cpu' or 'auto'")


class TorchDistances:
    """`ScaledDistances` on a torch device.

    Args:
        points: (n, d).
        others: (m, d).
        scale: at least 0.
        cutoff: largest distance.
        device: a torch device.
    """

    def __init__(self, points, others, scale: float, cutoff: float, device: str):
        import torch

        self._torch, self._limit = torch, scale * cutoff if cutoff < np.inf else np.inf
        self._points, self._others = (
            torch.as_tensor(np.asarray(array, dtype=np.float64) * scale, device=device)
            for array in (points, others)
        )
        self._norms = tuple((array * array).sum(dim=1) for array in (self._points, self._others))

    def block(self, rows, *, out) -> np.ndarray:
        """Distances of some rows to all others, into `out`, float64."""
        out[:] = self._scaled(rows).cpu().numpy()
        return out

    def sums(self, rows, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums of exp(least - scaled distance) over runs of `part` others, (len(rows), parts), and least."""
        scaled = self._scaled(rows)
        least = scaled.amin(dim=1)
        weights = self._torch.exp(least[:, None] - scaled)
        pad = -weights.shape[1] % part
        weights = self._torch.nn.functional.pad(weights, (0, pad)).reshape(len(rows), -1, part)
        return weights.sum(dim=2).cpu().numpy(), least.cpu().numpy()

    def _scaled(self, rows):
        torch = self._torch
        rows = torch.as_tensor(np.asarray(rows), device=self._points.device)
        points, norms = self._points[rows], self._norms[0][rows]
        squared = torch.addmm(self._norms[1], points, self._others.T, alpha=-2.0) + norms[:, None]
        i, j = torch.nonzero(squared < CANCELLATION * (norms[:, None] + self._norms[1].max()), as_tuple=True)
        squared[i, j] = ((points[i] - self._others[j]) ** 2).sum(dim=1)
        return squared.sqrt().clamp(max=self._limit)
