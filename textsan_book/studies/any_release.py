"""Releases by other programs, audited alike: masks and surrogates of Presidio, rewrites, and sanitizers.

Each release is audited without a record, as if nobody knew how it was made, so that like is compared with like.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache

import numpy as np

from textsan.auditing import use
from textsan.auditing.any_release import Original
from textsan.evaluation import hit_rate
from textsan.mechanisms import Mechanism, make_mechanism
from textsan.priors import LanguageModel
from textsan.sweeps.splits import PUBLIC
from textsan.text.corpora import Record, load_dataset, private_and_shadow
from textsan.text.loading import load_embeddings
from textsan.text.names import analyzer
from textsan.text.vocabulary import STOP_WORDS, tokenize
from textsan_book.studies.experiments import Rows

REPORT = 25
"""Words at the beginning of a medical report that are its text."""

COMMON = 1_000
"""Words of the list beyond which the tool "common words" masks every word."""

_ASKED = "Rewrite this text in other words with the same meaning. Write only the new text.\n\n"
REWRITING = (
    "The waiter forgot our soup twice, but the cake was lovely.",
    "Our server left out the starter two times, although dessert tasted great.",
    "@NorthRail my train to Leeds left forty minutes late AGAIN, thanks a lot",
    "Once more the ride I had booked set off far behind schedule. Not happy.",
    "{text}",
)
"""Two texts, each with its rewrite, that a chat model is shown before a text to rewrite; they are made up."""

_AT_ONCE = 32  # texts that it rewrites
_ESTIMATE = "value", "low", "high"


def any_releases(
    *,
    dataset: str,
    tool: str,
    epsilon: float | None = None,
    seed: int,
    n: int = 600,
    audited: int = 200,
    linked: int = 60,
) -> Rows:
    """Audit the release of a tool without a record, and measure what it keeps of a task.

    The tool is one of `TOOLS`, or the name of a mechanism with an epsilon; the seed chooses texts and noise. Of
    `n` texts that are released, for the classifier, `audited` are audited; at most `linked` are linked to their
    originals, and their words guessed. Rows have figure, of, share with its ends, and number, of: words left
    verbatim, by group (control: in the release of another row); answers of a language model that are no rewrites;
    masked or replaced words that are guessed, by attack (baseline: one word for all); words recovered, left or
    guessed; documents found again, by attack (control: another row's original; baseline: length alone); and kept,
    the accuracy of a classifier (baseline: the largest class). The excess is over the baseline.
    """
    records = _drawn(dataset, n, seed)
    texts = [record.text for record in records]
    if tool in TOOLS:
        released = TOOLS[tool](texts, seed)
    else:
        released = _mechanism(tool, epsilon).sanitize_text(texts, seed)
    original = _original(dataset, n, audited, linked, seed)
    audit = original.audit(original.paired(released[:audited]))
    words, found = audit["words"], audit["linkage"]
    rows = [
        _row("verbatim", row["group"], row, row["words"], control=row["control"]["value"])
        for row in words["verbatim"]
    ]
    rows += _answers(texts, released) if tool == "rewrite" else []
    if (guesses := words["guesses"]) is not None:
        constant, places = guesses["constant"]["value"], guesses["places"]
        for row in guesses["attacks"]:
            rows.append(_row("guessed", row["attack"], row, places, row["excess"], baseline=constant))
    for row in words["recovered"]:
        if row["group"] == "all":
            rows.append(_row("recovered", row["attack"], row, row["words"]))
    for row in found["attacks"]:
        beside = {"control": row["control"]["value"], "baseline": found["length"]["value"]}
        rows.append(_row("found", row["attack"], row["main"], found["releases"], row["excess"], **beside))
    labels = [record.label for record in records]
    kept = use.told(list(map(tokenize, released)), labels, n, seed=seed, encoder=False)
    for of, rate in (("released", kept["rate"]), ("original", _of_originals(dataset, n, seed))):
        rows.append(_row("kept", of, rate, kept["documents"], baseline=kept["largest"]))
    return rows


@cache
def _drawn(dataset: str, n: int, seed: int) -> list[Record]:
    return private_and_shadow(labelled(dataset), n, 0, seed)[0]


@cache
def _of_originals(dataset: str, n: int, seed: int) -> Mapping:
    """The accuracy of the classifier on the originals."""
    records = _drawn(dataset, n, seed)
    labels = [record.label for record in records]
    return use.told([tokenize(record.text) for record in records], labels, n, seed=seed, encoder=False)["rate"]


@cache
def _original(dataset: str, n: int, audited: int, linked: int, seed: int) -> Original:
    """The texts whose releases are audited: they are encoded once for all of them."""
    texts = [record.text for record in _drawn(dataset, n, seed)[:audited]]
    return Original(texts, sample=linked, seed=seed)


@cache
def _mechanism(name: str, epsilon: float | None) -> Mechanism:
    """Make it as `textsan sanitize` does by default."""
    return make_mechanism(name, load_embeddings().frequent(PUBLIC), epsilon=epsilon)


def _row(figure: str, of: str, share: Mapping, number: int, excess: Mapping | None = None, **beside) -> dict:
    """A row of the table; the excess over the baseline has its own interval."""
    row = {"figure": figure, "of": of, "number": number}
    for prefix, estimate in (("share", share), ("excess", excess or {})):
        names = prefix, f"{prefix}_low", f"{prefix}_high"
        row |= {name: estimate.get(key) for name, key in zip(names, _ESTIMATE, strict=True)}
    return row | {"control": None, "baseline": None} | beside


def _answers(texts: Sequence[str], released: Sequence[str]) -> list[dict]:
    """Measure how many rewrites are none: copies, empty, in a loop, or without a content word of their text.

    A loop has one run of three words three times or more.
    """
    pairs = [(tokenize(text), tokenize(rewrite)) for text, rewrite in zip(texts, released, strict=True)]
    runs = [Counter(zip(after, after[1:], after[2:], strict=False)) for _, after in pairs]
    content = [
        [{word for word in doc if word not in STOP_WORDS and word.isalnum()} for doc in pair] for pair in pairs
    ]
    shares = {
        "copies": [before == after for before, after in pairs],
        "empty": [not after for _, after in pairs],
        "loops": [max(counts.values(), default=0) >= 3 for counts in runs],
        "strangers": [not before & after for before, after in content],
    }
    return [_row("answers", name, hit_rate(np.array(hits))._asdict(), len(pairs)) for name, hits in shares.items()]


def labelled(dataset: str) -> list[Record]:
    """Read the texts of a data set, each with the class that a classifier is to tell.

    A score's sign is a class. Medical reports (mtsamples) stand under several specialties: the class is whether
    surgery is one of them, and the text is the beginning of the report.
    """
    records = load_dataset(dataset, "train")
    if dataset != "mtsamples":
        return [record if isinstance(record.label, str) else _signed(record) for record in records]
    specialties: dict[str, set[str]] = {}
    for record in records:
        specialties.setdefault(record.fields["transcription"], set()).add(str(record.label).strip())
    beginnings = ((" ".join(report.split()[:REPORT]), under) for report, under in specialties.items() if report)
    return [Record(text, "surgery" if "Surgery" in under else "other") for text, under in beginnings]


def _signed(record: Record) -> Record:
    return Record(record.text, "positive" if record.label > 0 else "negative")


# --- tools without an epsilon -----------------------------------------------------------------------------------


@cache
def _entities(texts: tuple[str, ...]) -> list[list]:
    """Find the entities of each text with Presidio."""
    presidio = analyzer()
    return [presidio.analyze(text, language="en") for text in texts]


def _masks(texts: Sequence[str], seed: int) -> list[str]:
    """Every entity that Presidio finds becomes its kind: <PERSON>."""
    from presidio_anonymizer import AnonymizerEngine

    engine, found = AnonymizerEngine(), _entities(tuple(texts))
    return [engine.anonymize(text, list(spans)).text for text, spans in zip(texts, found, strict=True)]


def _surrogates(texts: Sequence[str], seed: int) -> list[str]:
    """Every entity that Presidio finds becomes one of its kind from another text, or its kind if there is none."""
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import OperatorConfig

    engine, found, generator = AnonymizerEngine(), _entities(tuple(texts)), np.random.default_rng([seed, 7])
    entities: dict[str, list[tuple[int, str]]] = {}
    for d, spans in enumerate(found):
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            entities.setdefault(span.entity_type, []).append((d, texts[d][span.start : span.end]))

    def drawing(kind: str, d: int) -> Callable[[str], str]:
        def draw(entity: str) -> str:
            others = [other for row, other in entities[kind] if row != d and other.lower() != entity.lower()]
            return others[generator.integers(len(others))] if others else f"<{kind}>"

        return draw

    written = []
    for d, (text, spans) in enumerate(zip(texts, found, strict=True)):
        kinds = dict.fromkeys(span.entity_type for span in spans)
        draws = {kind: OperatorConfig("custom", {"lambda": drawing(kind, d)}) for kind in kinds}
        written.append(engine.anonymize(text, list(spans), draws).text)
    return written


def _common_words(texts: Sequence[str], seed: int) -> list[str]:
    """Every word off a public list of frequent words becomes a full stop."""
    return make_mechanism("erasure", load_embeddings().frequent(COMMON), q=1.0).sanitize_text(texts, seed)


def _rewrites(texts: Sequence[str], seed: int) -> list[str]:
    """Rewrite each text with the small chat model, the likeliest piece at every step, up to the end of the line.

    A rewrite has at most ten pieces more than the longest text of its batch.
    """
    import torch

    source = LanguageModel.named(precision="bfloat16")
    base, head, tokenizer = source.model.base_model, source.model.get_output_embeddings(), source.tokenizer
    chat = [
        {"role": "assistant", "content": said} if n % 2 else {"role": "user", "content": _ASKED + said}
        for n, said in enumerate(REWRITING)
    ]
    prompt = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    before, after = (tokenizer(part, add_special_tokens=False).input_ids for part in prompt.split("{text}"))
    own = [tokenizer(" ".join(text.split()), add_special_tokens=False).input_ids for text in texts]
    ends = [tokenizer.eos_token_id, *tokenizer("\n", add_special_tokens=False).input_ids]
    order = sorted(range(len(own)), key=lambda row: len(own[row]))
    written: list[list[int]] = [[] for _ in texts]
    with torch.inference_mode(), source.model.device:
        read = base(torch.tensor([before])).past_key_values  # once for all texts
        for at in range(0, len(order), _AT_ONCE):
            rows = order[at : at + _AT_ONCE]
            width = len(own[rows[-1]])
            ids = torch.tensor([[ends[0]] * (width - len(own[row])) + own[row] + after for row in rows])
            attended = torch.ones(len(rows), len(before) + ids.shape[1], dtype=torch.long)
            for row, mask in zip(rows, attended, strict=True):
                mask[len(before) :][: width - len(own[row])] = 0
            (cache := deepcopy(read)).batch_repeat_interleave(len(rows))
            for _ in range(width + 10):
                places = attended.cumsum(dim=1)[:, -ids.shape[1] :] - 1
                given = {"attention_mask": attended, "position_ids": places, "past_key_values": cache}
                best = head(base(ids, **given).last_hidden_state[:, -1]).argmax(dim=1)
                if len(going := (~torch.isin(best, torch.tensor(ends))).nonzero()[:, 0]) < len(rows):
                    rows, attended = [rows[n] for n in going], attended[going]
                    cache.batch_select_indices(going)
                if not rows:
                    break
                ids = best[going, None]
                attended = torch.nn.functional.pad(attended, (0, 1), value=1)
                for row, piece in zip(rows, ids[:, 0].tolist(), strict=True):
                    written[row].append(piece)
    return [line.strip() for line in tokenizer.batch_decode(written, skip_special_tokens=True)]


TOOLS: Mapping[str, Callable[[Sequence[str], int], list[str]]] = {
    "presidio masks": _masks,
    "presidio surrogates": _surrogates,
    "common words": _common_words,
    "rewrite": _rewrites,
}
"""Programs without an epsilon, by name: functions of texts and a seed."""
