"""Prompted reconstruction: a language model is shown a sanitized sentence and asked for the original.

This is the black-box attack of Pang et al. 2024: pairs of a sanitized sentence and its original stand in the
prompt. The channel is not used; the model writes what it likes, and the word at the same place is the guess.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from textsan.attacks.base import Attack
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.training_text import attacked_windows
from textsan.base import checks
from textsan.models.causal import CAUSAL
from textsan.priors import LanguageModel
from textsan.text import tokenize_v1

_TASK = "Some words of each sentence were replaced by other words. Write the sentence as it was."
_AT_ONCE = 16  # sentences a call of the model


class Prompted(Attack):
    """Guesses the word at the same place of a language model's answer; the released one where it wrote none.

    Args:
        source: the model.
        examples: pairs of a sanitized sentence and its original, which the prompt shows first.

    >>> aligned(["a", "good", "dog"], ["a", "fine", "dog"])
    ['a', 'fine', 'dog']
    """

    def __init__(self, source: LanguageModel, examples: Sequence[tuple[Sequence[str], Sequence[str]]] = ()):
        self.source, self.examples = source, [(list(y), list(x)) for y, x in examples]
        self._pieces = 0

    @classmethod
    def against(cls, knowledge: Knowledge, *, model: str = CAUSAL, examples: int | None = 4) -> "Prompted":
        """Make the attack with a model by name, or the resource "language model" where one is granted.

        Args:
            examples: of the attacker's own sentences, of usual length; None, or no shadow text, is none.
        """
        if examples is not None:
            checks.whole("examples", examples, low=1)
        source = knowledge.resources.get("language model") or LanguageModel.named(model)
        pairs = []
        if examples and knowledge.shadow:
            originals, released = knowledge.sanitized()
            usual = [(y, x) for y, x in zip(released, originals, strict=True) if 5 <= len(x) <= 20]
            pairs = usual[:examples]
        return cls(source, pairs)

    _reads_with = "source"

    @property
    def details(self) -> dict[str, float]:
        return {"pieces": self._pieces}

    def prompt(self, released: Sequence[str]) -> str:
        """Write the prompt for a sanitized sentence."""
        shown = [f"Replaced: {' '.join(y)}\nOriginal: {' '.join(x)}\n" for y, x in self.examples]
        return "\n".join([_TASK, *shown, f"Replaced: {' '.join(released)}\nOriginal:"])

    def _guess(self, docs, positions):
        parts = attacked_windows(docs, positions)
        found: dict[tuple[int, int], str] = {}
        for start in range(0, len(parts), _AT_ONCE):
            batch = parts[start : start + _AT_ONCE]
            answers = self._answers([docs[d][a:b] for d, a, b in batch])
            for (d, a, b), answer in zip(batch, answers, strict=True):
                found |= {(d, a + t): word for t, word in enumerate(aligned(docs[d][a:b], answer))}
        return [found[position] for position in positions]

    def _answers(self, sentences: list[list[str]]) -> list[list[str]]:
        """The words of the line that the model writes after each prompt, the likeliest piece at every step."""
        import torch

        tokenizer = self.source.tokenizer
        ids = [tokenizer(self.prompt(words), add_special_tokens=False).input_ids for words in sentences]
        width, longest = max(map(len, ids)), max(map(len, sentences))
        breaks = tokenizer("\n", add_special_tokens=False).input_ids
        ends = [number for number in (tokenizer.eos_token_id, *breaks) if number is not None]
        device = self.source.model.device
        filled = torch.tensor([[ends[0]] * (width - len(row)) + row for row in ids], device=device)
        attended = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in ids], device=device)
        with torch.inference_mode():
            written = self.source.model.generate(
                filled,
                attention_mask=attended,
                do_sample=False,
                max_new_tokens=2 * longest + 8,
                eos_token_id=ends,
                pad_token_id=ends[0],
            )[:, width:]
        self._pieces += sum(map(len, ids)) + written.numel()
        lines = tokenizer.batch_decode(written, skip_special_tokens=True)
        return [tokenize_v1(line.strip().partition("\n")[0]) for line in lines]


def aligned(released: Sequence[str], answer: Sequence[str]) -> list[str]:
    """Return the word of an answer at each place of a released sentence, the released one where it has none.

    Words that both have in one order keep their places; what lies between is set side by side from its beginning.

    >>> aligned(["the", "cat", "sat", "down"], ["oh", "the", "dog", "sat"])
    ['the', 'dog', 'sat', 'down']
    """
    words = list(released)
    for kind, a, b, c, d in SequenceMatcher(None, words, list(answer), autojunk=False).get_opcodes():
        if kind == "replace":
            words[a : a + min(b - a, d - c)] = answer[c : c + min(b - a, d - c)]
    return words
