"""A causal language model as a source of words: Pr(next word | words before), each word a sum over its pieces.

Every word is written with a blank before it, as it stands in the text, which in this book is lower case. Its
pieces are those of the blank and the word; the piece that follows tells whether the word is over: it begins with a
blank or a new line, or ends the text. With b(h) the probability of such a piece after h (Pimentel and Meister
2024)

    q(x | h) = prod_i Pr(piece_i | h, piece_1 .. piece_{i-1}) b(h x) / b(h),

so that the words of any vocabulary have at most the mass 1. Without b, "in" would be counted for "inside" too.
"""

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from textsan.base.listed import Listed
from textsan.models import causal

_BOUNDARIES = "ĠĊĉ▁ "  # how pieces that begin with white space are written in byte-level and in other vocabularies
_AT_ONCE = 512  # prefixes a forward
_FURTHER = -2.0  # about the log-probability of a piece after the first of its word


class Prefixes(NamedTuple):
    """Prefixes that a model has read, and what it expects next, as tensors."""

    keys: list  # for each layer its keys and its values, (n, heads, length, width)
    attended: Any  # (n, length) which of these are of pieces, not of padding
    log_next: Any  # (n, pieces) log-probabilities of the next piece


class LanguageModel:
    """A causal language model over words.

    Attributes:
        name: what it was loaded by; None of a model of one's own.
        passes: pieces that it has read so far.
        memory: what attacks keep of what they had it read.

    >>> model = LanguageModel.named()  # doctest: +SKIP
    >>> model.log_probabilities([["a", "cup", "of"]], ["tea", "blue"]).round(1)  # doctest: +SKIP
    array([[-2.1, -8.3]])
    """

    def __init__(self, model, tokenizer):
        self.model, self.tokenizer, self.passes = model, tokenizer, 0
        self.memory: dict = {}
        self.name: str | None = None
        self._pieces: dict[str, tuple[int, ...]] = {}

    @classmethod
    @cache
    def named(cls, name: str = causal.CAUSAL, *, precision: causal.Precision = "float32") -> "LanguageModel":
        """A model by name, loaded once a process."""
        made = cls(causal.load_causal(name, precision=precision), causal.load_causal_tokenizer(name))
        made.name = name
        return made

    def __repr__(self) -> str:
        return f"LanguageModel({self.model.config.model_type}, {len(self.tokenizer)} pieces)"

    def pieces(self, words: Iterable[str]) -> list[tuple[int, ...]]:
        """Numbers of the pieces of each word, the blank before it included; at least one each."""
        words = list(words)
        new = list(dict.fromkeys(word for word in words if word not in self._pieces))
        if new:
            found = self.tokenizer([" " + word for word in new], add_special_tokens=False).input_ids
            self._pieces |= {word: tuple(ids) or (self._start,) for word, ids in zip(new, found, strict=True)}
        return [self._pieces[word] for word in words]

    # --- prefixes, many at once ---------------------------------------------------------------------------------

    def begin(self, n: int) -> Prefixes:
        """`n` empty prefixes: the start of a text."""
        import torch

        one = self._read(None, [(self._start,)])[0]
        return _rows(one, torch.zeros(n, dtype=torch.long))

    def log_first(self, prefixes: Prefixes, rows: Listed[int], words: Sequence[str]) -> np.ndarray:
        """About log Pr(word and no end yet | prefix), (len(rows), len(words)), without reading anything.

        Exact where a word is one piece; every further piece is taken to have the probability exp(-2).
        """
        pieces = self.pieces(words)
        logs = prefixes.log_next[np.asarray(rows)][:, [one[0] for one in pieces]].double().cpu().numpy()
        return logs + _FURTHER * np.array([len(one) - 1 for one in pieces])

    def advance(self, prefixes: Prefixes, rows: Listed[int], words: Sequence[str]) -> tuple[Prefixes, np.ndarray]:
        """Append a word to each of m prefixes, given by their numbers, any of them more than once.

        Returns:
            m prefixes, and the exact log-probabilities of the pieces of each word, (m,); that the word ends after
            them is not in them yet: see `log_end`.
        """
        import torch

        rows = torch.as_tensor(np.asarray(rows, dtype=np.int64))
        pieces = self.pieces(words)
        logs = prefixes.log_next[rows, [one[0] for one in pieces]].double().cpu().numpy()
        lengths = np.array([len(one) for one in pieces])
        parts, order = [], []
        for length in np.unique(lengths):  # words of one length together: no piece of padding is read
            some = np.flatnonzero(lengths == length)
            part, rest = self._read(_rows(prefixes, rows[some], logs=False), [pieces[at] for at in some])
            logs[some] += rest
            parts.append(part)
            order += some.tolist()
        return _joined(parts, np.argsort(order)), logs

    def select(self, prefixes: Prefixes, rows: Listed[int]) -> Prefixes:
        """Some of the prefixes."""
        import torch

        return _rows(prefixes, torch.as_tensor(np.asarray(rows, dtype=np.int64)))

    def log_end(self, prefixes: Prefixes) -> np.ndarray:
        """log b: that the last word of each prefix is over, (n,)."""
        return self._log_mass(prefixes, self._kinds[0])

    def log_stop(self, prefixes: Prefixes) -> np.ndarray:
        """Score that the last word of each prefix is over and the sentence too, (n,) log-probabilities."""
        return self._log_mass(prefixes, self._kinds[1])

    # --- words given words --------------------------------------------------------------------------------------

    def log_probabilities(self, prefixes: Sequence[Sequence[str]], words: Sequence[str]) -> np.ndarray:
        """log q(word | prefix), exactly, (len(prefixes), len(words)).

        Args:
            words: words that may follow; a forward each for every prefix, those that share all pieces but the last
                one included.
        """
        result = np.empty((len(prefixes), len(words)))
        for line, prefix in enumerate(prefixes):
            before = self.begin(1)
            for word in prefix:
                before, _ = self.advance(before, [0], [word])
            for at in range(0, len(words), _AT_ONCE):
                some = words[at : at + _AT_ONCE]
                after, logs = self.advance(before, [0] * len(some), some)
                result[line, at : at + len(some)] = logs + self.log_end(after) - self.log_end(before)
        return result

    # --- pieces -------------------------------------------------------------------------------------------------

    @cached_property
    def _start(self) -> int:
        for number in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            if number is not None:
                return number
        raise ValueError("tokenizer: it has neither a start nor an end of text; pass one of a causal model")

    @cached_property
    def _kinds(self):
        """Mark pieces that begin with white space or end the text, and those that end the sentence: two rows."""
        import torch

        tokens = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))
        special = set(self.tokenizer.all_special_ids)
        size = self.model.config.vocab_size
        stop, boundary = torch.zeros(2, size)  # filled on the CPU, one by one
        for number, token in enumerate(tokens[:size]):
            stop[number] = number in special or token.startswith(("Ċ", "\n", "<0x0A>"))
            boundary[number] = stop[number] or token[:1] in _BOUNDARIES
        return boundary.to(self.model.device), stop.to(self.model.device)

    @staticmethod
    def _log_mass(prefixes, kind) -> np.ndarray:
        return np.log(np.maximum((prefixes.log_next.exp() @ kind).double().cpu().numpy(), 1e-30))

    def _read(self, before: Prefixes | None, pieces: Sequence[tuple[int, ...]]) -> tuple[Prefixes, np.ndarray]:
        """Read further pieces after each prefix, at least one; log-probabilities are of all but the first."""
        import torch
        from transformers import DynamicCache

        device = self.model.device
        lengths = torch.tensor([len(one) for one in pieces], device=device)
        width = max(map(len, pieces))
        ids = torch.tensor([[*one, *[0] * (width - len(one))] for one in pieces], device=device)
        new = torch.arange(width, device=device) < lengths[:, None]
        self.passes += int(lengths.sum())
        cache = DynamicCache()
        attended, seen = new, torch.zeros_like(lengths)
        if before is not None:
            for layer, (key, value) in enumerate(before.keys):
                cache.update(key, value, layer)
            attended, seen = torch.cat([before.attended, new], dim=1), before.attended.sum(dim=1)
        positions = seen[:, None] + torch.arange(width, device=device)
        with torch.inference_mode():
            hidden = self.model.base_model(
                input_ids=ids,
                attention_mask=attended.long(),
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
            ).last_hidden_state
            head = self.model.get_output_embeddings()
            rest = np.zeros(len(pieces))
            where = [(n, i) for n, one in enumerate(pieces) for i in range(len(one) - 1)]
            for at in range(0, len(where), _AT_ONCE):
                rows, steps = map(list, zip(*where[at : at + _AT_ONCE], strict=True))
                logs = head(hidden[rows, steps]).float()
                targets = [pieces[n][i + 1] for n, i in zip(rows, steps, strict=True)]
                targets = torch.tensor(targets, device=device)
                chosen = logs.gather(1, targets[:, None])[:, 0] - logs.logsumexp(dim=1)
                np.add.at(rest, rows, chosen.double().cpu().numpy())
            log_next = (
                head(hidden[torch.arange(len(pieces), device=device), lengths - 1]).float().log_softmax(dim=1)
            )
        keys = [(layer.keys, layer.values) for layer in cache.layers]
        return Prefixes(keys, attended, log_next), rest


def _joined(parts: Sequence[Prefixes], order: np.ndarray) -> Prefixes:
    """All prefixes of some parts, filled up to one length, then put in order."""
    import torch

    if len(parts) == 1:
        return parts[0]
    order, pad = torch.from_numpy(order), torch.nn.functional.pad
    length = max(part.attended.shape[1] for part in parts)
    missing = [length - part.attended.shape[1] for part in parts]

    def together(tensors, sides):
        return torch.cat([pad(x, side) for x, side in zip(tensors, sides, strict=True)])[order]

    keys = [
        tuple(together(tensors, [(0, 0, 0, n) for n in missing]) for tensors in zip(*layers, strict=True))
        for layers in zip(*(part.keys for part in parts), strict=True)
    ]
    attended = together([part.attended for part in parts], [(0, n) for n in missing])
    return Prefixes(keys, attended, torch.cat([part.log_next for part in parts])[order])


def _rows(prefixes: Prefixes, rows, logs: bool = True) -> Prefixes:
    """Some prefixes, in some order; without columns that are padding in all of them."""
    attended = prefixes.attended[rows]
    used = attended.any(dim=0)
    keys = [(key[rows], value[rows]) for key, value in prefixes.keys]
    if not used.all():
        keys = [(key[:, :, used], value[:, :, used]) for key, value in keys]
    return Prefixes(keys, attended[:, used], prefixes.log_next[rows] if logs else None)
