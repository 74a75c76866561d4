"""Keyword inference: is a word in the text behind a vector?

White box: the attacker has texts like the attacked ones. Few of them hold the keyword, so that a network that
always says no is right nearly always; four ways to deal with that are compared. Black box: the attacker has other
texts, puts the keyword into them, and adapts to the released vectors by gradient reversal.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage import heads
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge
from textsan.evaluation import Estimate
from textsan.text.vocabulary import tokenize_v1

Head = Literal["linear", "mlp"]
Balance = Literal["none", "resample", "weights", "threshold"]

HIDDEN = 100
_STEPS = 600
_STRENGTH = 0.01  # inverse weight decay of the linear head; vectors have more coordinates than there are positives
_TESTED = 0.25  # of the texts, on which a threshold is chosen


def present(texts: Sequence[str], keyword: str) -> np.ndarray:
    """Tell whether the keyword is one of a text's words, whatever its case; (n,) bool.

    >>> present(["New York, again.", "Yorkshire"], "york")
    array([ True, False])
    """
    word = keyword.lower()
    return np.array([word in text.lower() and word in map(str.lower, tokenize_v1(text)) for text in texts], bool)


def check_keyword(keyword: str, texts: Sequence[str]) -> np.ndarray:
    """Return `present`, if there is something to learn."""
    there = present(texts, keyword)
    if not 2 <= there.sum() <= len(there) - 2:
        known = f"{keyword!r} is in {there.sum()} of {len(there)} texts"
        raise ValueError(f"keyword: {known}; it must be in two or more and be missing from two or more")
    return there


class KeywordInference:
    """The white-box attack: a linear or a two-layer head on vectors of the attacker's own texts."""

    def __init__(self, score, threshold: float = 0.0):
        self.score, self.threshold = score, threshold

    @classmethod
    def against(
        cls, knowledge: VectorKnowledge, *, keyword: str, head: Head = "linear", balance: Balance = "weights"
    ) -> "KeywordInference":
        """Train the attack on texts like the attacked ones.

        Args:
            head: "linear", logistic regression; or "mlp", a hidden layer of 100 sigmoid units.
            balance: what is done about the few texts with the keyword. "none"; "resample", they are drawn again
                until both kinds are as many; "weights", their losses weigh more; "threshold", the border between
                yes and no is chosen on a quarter of the texts, which the head does not see.
        """
        checks.choice("balance", balance, ("none", "resample", "weights", "threshold"))
        texts = knowledge.texts()
        there, vectors = check_keyword(keyword, texts), knowledge.ask(texts)
        fit = {"linear": _linear, "mlp": _network}[checks.choice("head", head, ("linear", "mlp"))]
        random = np.random.default_rng(knowledge.seed)
        if balance == "threshold":
            tested = _stratified(there, random)
            score = fit(vectors[~tested], there[~tested], False, knowledge.seed)
            return cls(score, best_threshold(score(vectors[tested]), there[tested]))
        if balance == "resample":
            yes, no = np.flatnonzero(there), np.flatnonzero(~there)
            few, many = sorted((yes, no), key=len)
            rows = np.concatenate([many, few, random.choice(few, len(many) - len(few))])
            vectors, there = vectors[rows], there[rows]
        return cls(fit(vectors, there, balance == "weights", knowledge.seed))

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Compute log-odds of the keyword in released vectors (n, d) less the threshold, (n,): yes is above 0."""
        return self.score(np.asarray(vectors)) - self.threshold


class KeywordTransfer(KeywordInference):
    """The black-box attack: other texts, the keyword placed or found in them, and adaptation to what was released.

    A hidden layer feeds two heads: one says whether the keyword is there, on the attacker's texts; one says which
    vectors are released ones. The hidden layer learns with the second head's gradient *reversed* (Ganin et al.
    2016), so that it keeps of a vector what does not tell the two kinds of text apart.
    """

    @classmethod
    def against(  # type: ignore[override]  # trains otherwise, so that its settings are others
        cls,
        knowledge: VectorKnowledge,
        *,
        keyword: str,
        reversal: float = 1.0,
        moments: bool = False,
        others: Sequence[str] = (),
        steps: int = _STEPS,
    ) -> "KeywordTransfer":
        """Train the attack on other texts and on the released vectors without their texts.

        Args:
            knowledge: texts of another kind, an encoder, and the captured vectors.
            reversal: what the reversed gradient weighs in the end, at least 0; 0 is plain transfer.
            moments: whether both kinds of vectors are scaled by their own means and deviations, the simplest
                adaptation; else by those of the attacker's.
            others: words of the keyword's kind. With them the keyword is placed, see `placed`; without them it is
                looked for in the texts.
        """
        import torch

        reversal, steps = checks.number("reversal", reversal, low=0), checks.whole("steps", steps, low=1)
        texts, victims = knowledge.texts(), knowledge.victims()
        if others:
            texts = placed(texts, keyword, others, seed=knowledge.seed)
        there, vectors = check_keyword(keyword, texts), knowledge.ask(texts)
        own = heads.Standard(vectors)
        theirs = heads.Standard(victims) if moments else own
        source, target = torch.from_numpy(own(vectors)), torch.from_numpy(theirs(victims))
        truth, weights = torch.from_numpy(there.astype(int)), torch.from_numpy(_class_weights(there))
        entropy = torch.nn.functional.cross_entropy

        def make():
            parts = {"hidden": torch.nn.Linear(source.shape[1], HIDDEN)}
            parts |= {"word": torch.nn.Linear(HIDDEN, 2), "kind": torch.nn.Linear(HIDDEN, 2)}
            return torch.nn.ModuleDict(parts)

        def loss(net, rows, done):
            seen = torch.sigmoid(net["hidden"](source[rows]))
            total = entropy(net["word"](seen), truth[rows], weight=weights)
            if not reversal:
                return total
            more = torch.randint(len(target), (len(rows),))
            both = torch.cat([seen, torch.sigmoid(net["hidden"](target[more]))])
            weight = reversal * (2 / (1 + np.exp(-10 * done)) - 1)  # Ganin et al. 2016, section 5.2.2
            kind = torch.cat([torch.zeros(len(rows)), torch.ones(len(rows))]).long()
            return total + entropy(net["kind"](_reversed(both, weight)), kind)

        net = heads.train(make, loss, len(source), steps=steps, seed=knowledge.seed)

        def score(vectors):
            with torch.inference_mode():
                seen = torch.sigmoid(net["hidden"](torch.from_numpy(theirs(vectors))))
                return _log_odds(net["word"](seen))

        return cls(score)


def placed(texts: Sequence[str], keyword: str, others: Sequence[str], *, seed) -> list[str]:
    """Put one word into each text at a random place: the keyword into every other text, one of its kind elsewhere.

    So a word was put into all of them, and only which one it is tells the two kinds apart.

    >>> placed(["so it is", "so it was"], "pain", ["skin"], seed=0)
    ['so it is pain', 'so it skin was']
    """
    others = [word for word in others if word.lower() != keyword.lower()]
    if not others:
        raise ValueError(f"others: none besides {keyword!r}; pass words of its kind")
    random, made = np.random.default_rng(seed), []
    for at, text in enumerate(texts):
        words = text.split()
        word = others[random.integers(len(others))] if at % 2 else keyword
        words.insert(int(random.integers(len(words) + 1)), word)
        made.append(" ".join(words))
    return made


class KeywordScore(NamedTuple):
    """Scores of an attack that tells who has the keyword; 0.5 is blind of the first two."""

    auc: Estimate  # area under the curve of true over false positives
    balanced: Estimate  # mean of the accuracies on texts with and without it
    accuracy: Estimate  # share of right answers
    majority: float  # what always to give the more frequent answer reaches
    positives: int  # texts with the keyword
    n: int  # all texts


def keyword_score(scores: np.ndarray, there: np.ndarray, *, seed, resamples: int = 1000) -> KeywordScore:
    """Score answers (n,), yes above 0, with 95 % intervals from resampling texts of both kinds apart.

    With one text of a kind nothing is known of the spread; the intervals are [0, 1].

    >>> keyword_score(np.array([1.0, -1.0]), np.array([True, False]), seed=0).auc.value
    1.0
    """
    scores, there = np.asarray(scores, dtype=float), np.asarray(there, dtype=bool)
    positives, n = int(there.sum()), len(there)
    if not 0 < positives < n:
        raise ValueError(f"keyword: it is in {positives} of {n} texts; attack texts of both kinds")
    yes, no, random = scores[there], scores[~there], np.random.default_rng(seed)
    places = np.searchsorted(np.sort(no), yes, "left") + np.searchsorted(np.sort(no), yes, "right")
    above, below = np.searchsorted(np.sort(yes), no, "left"), np.searchsorted(np.sort(yes), no, "right")
    # Two-sample U statistic: the bootstrap of its two projections (Hoeffding) needs no sorting of each sample.
    own, others = places / (2 * len(no)), 1 - (above + below) / (2 * len(yes))
    pick_yes = random.multinomial(positives, np.full(positives, 1 / positives), size=resamples) / positives
    pick_no = random.multinomial(n - positives, np.full(n - positives, 1 / (n - positives)), size=resamples)
    pick_no = pick_no / (n - positives)
    auc = float(own.mean())
    areas = pick_yes @ own + pick_no @ others - auc
    alone = min(positives, n - positives) < 2
    right_yes, right_no = (yes > 0).astype(float), (no <= 0).astype(float)
    rates = pick_yes @ right_yes, pick_no @ right_no
    share = positives / n
    area = _between(auc, np.clip(areas, 0, 1), alone)
    balanced = _between((right_yes.mean() + right_no.mean()) / 2, (rates[0] + rates[1]) / 2, alone)
    right = share * right_yes.mean() + (1 - share) * right_no.mean()
    accuracy = _between(right, share * rates[0] + (1 - share) * rates[1], alone)
    return KeywordScore(area, balanced, accuracy, max(share, 1 - share), positives, n)


def best_threshold(scores: np.ndarray, there: np.ndarray) -> float:
    """Find the border of scores (n,) between yes and no of the largest balanced accuracy, between two of them.

    >>> best_threshold(np.array([0.0, 1.0, 2.0]), np.array([False, False, True]))
    1.5
    """
    values = np.unique(scores)
    borders = np.concatenate([[values[0] - 1], (values[1:] + values[:-1]) / 2, [values[-1] + 1]])
    yes, no = np.sort(scores[there]), np.sort(scores[~there])
    right = 1 - np.searchsorted(yes, borders, "right") / len(yes) + np.searchsorted(no, borders, "right") / len(no)
    return float(borders[right.argmax()])


def _between(value: float, drawn: np.ndarray, alone: bool) -> Estimate:
    if alone:
        return Estimate(float(value), 0.0, 1.0)
    return Estimate(float(value), *np.quantile(drawn, [0.025, 0.975]).tolist())


def _stratified(there: np.ndarray, random) -> np.ndarray:
    """A quarter of both kinds, at least one of each."""
    tested = np.zeros(len(there), dtype=bool)
    for kind in (there, ~there):
        rows = random.permutation(np.flatnonzero(kind))
        tested[rows[: max(1, round(_TESTED * len(rows)))]] = True
    return tested


def _class_weights(there: np.ndarray) -> np.ndarray:
    """Weigh the texts of each kind so that both kinds weigh as much, (2,) float32."""
    counts = np.bincount(there.astype(int), minlength=2)
    return (len(there) / (2 * np.maximum(counts, 1))).astype(np.float32)


def _linear(vectors, there, weighted: bool, seed: int):
    from sklearn.linear_model import LogisticRegression

    standard = heads.Standard(vectors)
    weight = "balanced" if weighted else None
    model = LogisticRegression(C=_STRENGTH, class_weight=weight, max_iter=1000).fit(standard(vectors), there)
    return lambda some: model.decision_function(standard(some)).astype(float)


def _network(vectors, there, weighted: bool, seed: int):
    import torch

    standard = heads.Standard(vectors)
    inputs, truth = torch.from_numpy(standard(vectors)), torch.from_numpy(there.astype(int))
    weights = torch.from_numpy(_class_weights(there)) if weighted else None

    def loss(net, rows, _):
        return torch.nn.functional.cross_entropy(net(inputs[rows]), truth[rows], weight=weights)

    net = heads.train(
        lambda: heads.stack(inputs.shape[1], [HIDDEN], 2), loss, len(inputs), steps=_STEPS, seed=seed
    )

    def score(some):
        with torch.inference_mode():
            return _log_odds(net(torch.from_numpy(standard(some))))

    return score


def _log_odds(outputs) -> np.ndarray:
    return (outputs[:, 1] - outputs[:, 0]).double().numpy()


def _reversed(x, weight: float):
    """x itself, whose gradient is multiplied by minus `weight`."""
    return x.detach() * (1 + weight) - x * weight
