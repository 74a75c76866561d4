"""Bayes' rules for one word, and the exponential storage's distances, on a GPU: by torch in float64.

The numbers are those of NumPy within rounding. torch is loaded only where a device is asked for.
"""

import importlib.util
import shutil

import numpy as np

from textsan.text.embeddings import CANCELLATION

_ENTRIES = 1 << 24  # float64 of a block of columns: 128 MiB


def choose_device(device: str) -> str:
    """Return the torch device to compute on: "auto" is "cuda" where torch finds a GPU, else "cpu".

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


class TorchJoint:
    """log Pr(x) Pr(y | x) of a channel on a torch device, by blocks of columns y; without words of prior 0."""

    def __init__(self, storage, log_prior: np.ndarray, device: str):
        import torch

        device = choose_device(device)
        self._torch, self._possible = torch, np.flatnonzero(log_prior > -np.inf)
        self._log_prior = torch.as_tensor(log_prior[self._possible], device=device)
        self._columns = storage.restrict(self._possible).columns_on(device)
        self._size = max(1, _ENTRIES // max(1, len(self._possible)))

    def best_inputs(self, columns: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find `Channel.best_inputs` of some column numbers; the inputs beyond the possible ones have -inf."""

        def best(joint):
            if k == 1:
                return joint.max(dim=1, keepdim=True)
            some = joint.topk(min(k, joint.shape[1]), dim=1).indices.sort(dim=1).values
            logs, order = self._torch.sort(joint.gather(1, some), dim=1, descending=True, stable=True)
            return logs, some.gather(1, order)  # ties by row

        found = [[part.cpu().numpy() for part in best(joint)] for joint in self._blocks(columns)]
        if not found:
            return np.empty((0, k), dtype=np.intp), np.empty((0, k))
        logs, numbers = (np.concatenate(part) for part in zip(*found, strict=True))
        more = (0, 0), (0, k - logs.shape[1])
        return np.pad(self._possible[numbers], more), np.pad(logs, more, constant_values=-np.inf)

    def log_marginal(self, columns: np.ndarray) -> np.ndarray:
        """log Pr(y) of some column numbers."""
        sums = (self._torch.logsumexp(joint, dim=1).cpu().numpy() for joint in self._blocks(columns))
        return np.concatenate([np.empty(0), *sums])

    def _blocks(self, columns: np.ndarray):
        for at in range(0, len(columns), self._size):
            yield self._columns(columns[at : at + self._size]) + self._log_prior


def dense_columns(log_matrix: np.ndarray, device: str):
    """log Pr(y | .) of some column numbers, a tensor (columns, n_in), as a function; of a whole matrix."""
    import torch

    table = torch.as_tensor(log_matrix, device=device).T
    return lambda columns: table[torch.as_tensor(columns, device=device)]


def sparse_columns(matrix, device: str):
    """Make the function of `dense_columns` from positive entries, a scipy matrix (n_in, n_out) held by columns."""
    import torch

    def columns(numbers):
        part = matrix[:, numbers].tocoo()
        x, y = (torch.as_tensor(index, device=device).long() for index in (part.row, part.col))
        table = torch.full(part.shape[::-1], -torch.inf, dtype=torch.float64, device=device)
        table[y, x] = torch.as_tensor(part.data, device=device).log()
        return table

    return columns


class TorchDistances:
    """`ScaledDistances` on a torch device."""

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
        out[:] = self.scaled(rows).cpu().numpy()
        return out

    def sums(self, rows, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums of exp(least - scaled distance) over runs of `part` others, (len(rows), parts), and least."""
        scaled = self.scaled(rows)
        least = scaled.amin(dim=1)
        weights = self._torch.exp(least[:, None] - scaled)
        pad = -weights.shape[1] % part
        weights = self._torch.nn.functional.pad(weights, (0, pad)).reshape(len(rows), -1, part)
        return weights.sum(dim=2).cpu().numpy(), least.cpu().numpy()

    def scaled(self, rows):
        """Compute distances of some rows to all others, a tensor on the device."""
        torch = self._torch
        rows = torch.as_tensor(rows, device=self._points.device)  # numbers, or a tensor that is there already
        points, norms = self._points[rows], self._norms[0][rows]
        squared = torch.addmm(self._norms[1], points, self._others.T, alpha=-2.0) + norms[:, None]
        i, j = torch.nonzero(squared < CANCELLATION * (norms[:, None] + self._norms[1].max()), as_tuple=True)
        squared[i, j] = ((points[i] - self._others[j]) ** 2).sum(dim=1)
        return squared.sqrt().clamp(max=self._limit)
