"""Checks on splits and scores: overlap between training and test text, splits by source, what overlap is worth."""

import numpy as np

from textsan_book.course.checks.saying import array, chosen, close, number

_WORDS = "the a staff room was clean dirty kind rude we waited for hours again never good bad soup cold".split()


def _corpus(seed: int, stream: int, sources: int = 12):
    """(lines, source of each): sources share stock phrases, and write them with other capitals and marks."""
    generator = np.random.default_rng([seed, stream])
    stock = [" ".join(generator.choice(_WORDS, size=5)) for _ in range(4)]
    lines, source = [], []
    for number_ in range(sources):
        for place in range(int(generator.integers(2, 6))):
            line = " ".join(generator.choice(_WORDS, size=6)) if place else str(generator.choice(stock))
            lines.append(_dressed(line, generator))
            source.append(number_)
    return lines, source, generator


def _dressed(line: str, generator) -> str:
    how = int(generator.integers(4))
    return (line, f"  {line}.", line.upper() + "!", line.title().replace(" ", "  "))[how]


def _normalised(line: str) -> str:
    kept = (character for character in line.lower() if character.isalnum() or character.isspace())
    return " ".join("".join(kept).split())


def overlap_is_found(overlap, *, seed: int) -> None:
    """The test lines that stand in the training text, however they are written."""
    for stream in (1, 2, 3):
        lines, _, generator = _corpus(seed, stream)
        tested = generator.random(len(lines)) < 0.3
        train = [line for line, test in zip(lines, tested, strict=True) if not test]
        test = [line for line, test in zip(lines, tested, strict=True) if test]
        answer = chosen(overlap(train, test), range(len(test)), "overlap(train, test)")
        known = {_normalised(line) for line in train}
        missed = [test[i] for i in range(len(test)) if _normalised(test[i]) in known and i not in answer]
        assert not missed, f"{missed[0]!r} is in the training text, too, with other capitals, spaces or marks"
        extra = [test[i] for i in answer if _normalised(test[i]) not in known]
        assert not extra, f"{extra[0]!r} is not in the training text"


def overlap_sees_literal_copies(overlap, *, seed: int) -> None:
    """Exact copies are found, and nothing in texts that share nothing."""
    lines, _, _ = _corpus(seed, 4)
    assert len(set(overlap(lines, lines[:5]))) == 5, "lines that are copied as they are must be found, all of them"
    assert not list(overlap(["one two"], ["three four", "one"])), "these lines share words, but none is the same"


def sources_stay_together(split, *, seed: int) -> None:
    """No source stands on both sides, and about the wanted share is held out."""
    for stream in (5, 6):
        _, source, _ = _corpus(seed, stream, sources=40)
        held = array(split(source, 0.3, 7), (len(source),), "split(sources, share, seed)").astype(bool)
        out, kept = ({s for s, h in zip(source, held, strict=True) if h == side} for side in (True, False))
        both = out & kept
        assert not both, f"source {min(both)} has lines on both sides: hold out whole sources, not lines"
        share = len(out) / 40
        assert 0.2 <= share <= 0.4, f"{share:.2f} of the sources are held out, not about 0.3"


def split_follows_its_seed(split, *, seed: int) -> None:
    """Check that a seed gives one split, another one another, and that the share is kept at its ends."""
    _, source, _ = _corpus(seed, 7, sources=40)
    first, again, other = (np.asarray(split(source, 0.5, number)) for number in (seed, seed, seed + 1))
    assert (first == again).all(), "the same seed must give the same split"
    assert (first != other).any(), "another seed must give another split"
    assert not np.asarray(split(source, 0.0, seed)).any(), "a share of 0 holds nothing out"
    assert np.asarray(split(source, 1.0, seed)).all(), "a share of 1 holds all out"


def inflation_is_right(inflation, *, seed: int) -> None:
    """The rate over all lines minus that over lines that do not overlap."""
    generator = np.random.default_rng([seed, 8])
    for n in (20, 57):
        hit = generator.random(n) < 0.4
        twice = sorted(int(place) for place in generator.choice(n, size=n // 3, replace=False))
        clean = [bool(hit[i]) for i in range(n) if i not in twice]
        value = number(inflation(hit.tolist(), twice), "inflation(hits, overlapping)")
        said = "compare the rate over all with the rate over clean lines"
        close(value, hit.mean() - sum(clean) / len(clean), said)


def inflation_counts_lines_once(inflation, *, seed: int) -> None:
    """A line that is listed twice is left out once, in any order; without overlap nothing is inflated."""
    generator = np.random.default_rng([seed, 9])
    hit = generator.random(30) < 0.5
    twice = generator.permutation([*range(0, 30, 4), *range(0, 30, 8)]).tolist()
    wanted = hit.mean() - np.delete(hit, twice).mean()
    said = "a line that is listed twice is one line, in whatever order they are listed"
    close(number(inflation(hit.tolist(), twice), "inflation(hits, overlapping)"), wanted, said)
    close(number(inflation(hit.tolist(), []), "inflation"), 0, "without overlap nothing is inflated")
