"""Data sets by name: records with text, tokens and label, in splits that share no sentence.

Four sources, asked in this order: the folder in `TEXTSAN_DATA` (`<dataset>/<split>.jsonl.xz`), this package
(prose), the corpora of the package index (rt, amazon, nyt, tweets, drugs), the hub (the papers' sets).
"""

import csv
import hashlib
import html
import json
import lzma
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from textsan.base import assets, checks
from textsan.text.parquet import read_columns
from textsan.text.sources import phrase_sources, sharing, sharing_runs
from textsan.text.vocabulary import tokenize_v1

SPLIT_SEED = 20251121
"""Seed of the splits of the corpora that have none of their own."""

SPLIT_BY = ("source", "line")
"""Ways to keep private and shadow text apart: see `private_and_shadow`."""

_SHARES = (("train", 0.8), ("dev", 0.9), ("test", 1.0))  # upper ends: 80, 10 and 10 percent


@dataclass(frozen=True)
class Record:
    """One text of a data set.

    Args:
        text: the text.
        label: what the data set says of it: a number, a name, or None.
        fields: everything else the data set says of it, by column.

    >>> Record("Good film!").tokens
    ['good', 'film', '!']
    """

    text: str
    label: float | int | str | None = None
    fields: dict = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def tokens(self) -> list[str]:
        """`text` split by `tokenize_v1`, on first use."""
        return tokenize_v1(self.text)


def load_dataset(name: str, split: str = "train") -> list[Record]:
    """Load the records of a split of a data set, in the order of its file.

    rt, amazon, nyt and tweets are sentences with a sentiment score from -4 to 4 as label, drugs are reviews
    with the condition as label and drug and rating among the fields. Their splits hold 80, 10 and 10 percent,
    drawn with `SPLIT_SEED`; a product review or an editorial is never cut in two. HTML entities are resolved. So
    do those of prose, sentences of the project's own book that are younger than the models it uses.

    The papers' sets keep their own splits, except that a record is dropped from train where its text (either
    text of a pair) is also in dev or test, and from dev where it is also in test; "all" is every row of every
    file. The text of a pair is the context sentence in qnli (the sentence that Tong et al. sanitize) and the
    first sentence in stsb; both sentences are in the fields `sentence1` and `sentence2`. yelp's labels are stars,
    1 to 5. Files in `TEXTSAN_DATA` are the reader's own; nothing vouches for them.

    Where records are not independent of each other the field `part_of` tells which are of one source: phrases of
    one sentence in sst2; in qnli, which does not name its paragraphs, pairs that share a question or a context
    sentence, directly or through others (a question is asked of several sentences of one paragraph); in ag_news
    texts that share eight tokens in a row, directly or through others; in prose sentences of one paragraph.

    Args:
        name: rt, amazon, nyt, tweets, drugs, prose; sst2, qnli, cola, stsb, ag_news, yelp, rotten_tomatoes; or any
            folder in `TEXTSAN_DATA`.
        split: "train", "dev", "test" where the data set has them, or "all".

    Raises:
        KeyError: unknown data set or split; the line names the known ones.
        ValueError: a split without a record, or a row without a text.
        FetchError: not in the cache, and it could not be downloaded.

    >>> load_dataset("rt", split="all")[2].text
    'Effective but too tepid biopic'
    """
    entries, local = assets.registry()["datasets"], _local_folders()
    entry = entries.get(name, {})
    if folder := local.get(entry.get("local", name)):
        splits = _own_splits(_local_splits(name, entry, folder))
    elif not entry:
        raise KeyError(unknown(name))
    elif "splits" in entry:
        splits = _own_splits(_hub_splits(name, entry))
    elif "packaged" in entry:
        records = _records(name, entry, read_lines(assets.DATA / entry["packaged"]))
        splits = _drawn_splits(name, records, [record.fields["part_of"] for record in records])
    else:
        records, documents = _drugs() if name == "drugs" else _scored_sentences(entry)
        splits = _drawn_splits(name, records, documents)
    if split not in splits:
        raise KeyError(f"split: {split!r} is unknown for {name!r}; known: {', '.join(splits)}")
    if not splits[split]:
        raise ValueError(f"split: {split!r} of {name!r} has no record; choose another split")
    if "sources" in entry:
        for record, source in zip(splits[split], _SOURCES[entry["sources"]](splits[split]), strict=True):
            record.fields["part_of"] = source
    return splits[split]


def known() -> list[str]:
    """Names that `load_dataset` takes: those of the registry, then other folders in `TEXTSAN_DATA`.

    >>> known()[:4]
    ['rt', 'amazon', 'nyt', 'tweets']
    """
    entries = assets.registry()["datasets"]
    return [*entries, *sorted({*_local_folders()} - {*entries})]


def unknown(name: str) -> str:
    """The line that tells a user that there is no such data set, and which there are."""
    return f"dataset: {name!r} is unknown; known: {', '.join(known())}"


def normalised(text: str) -> str:
    """Key under which two texts count as the same sentence: letters and digits, without case and accents.

    Of a text without letters and digits only the blanks are dropped.

    >>> normalised("  It's a *Caf\u00e9*! ") == normalised("its a cafe")
    True
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text).casefold()) or "".join(text.split())


def private_and_shadow(
    records: Sequence[Record],
    n_private: int,
    n_shadow: int,
    seed: int,
    shadow_records: Sequence[Record] | None = None,
    *,
    split_by: str = "source",
) -> tuple[list[Record], list[Record]]:
    """Draw a private and a shadow set, with no normalised sentence in both.

    By source, records of `records` whose field `part_of` is equal stay together: none of them is private and
    another one shadow. Sources of `shadow_records` are numbered apart and not compared; equal sentences are. Both
    sets take their records from as many sources as they can, the private set from up to half of all.

    By line, records are drawn at random, as the released code of Tong et al. 2024 draws them (which does not even
    keep equal ones apart): a phrase may be private and its sentence shadow, so that what an attack gains on such
    a split may be memory.

    Args:
        n_private: number of records to sanitize, at least 1.
        n_shadow: number of records that the adversary knows, at least 0.
        shadow_records: what the shadow set is drawn from; None is the same records.
        split_by: "source" or "line".

    >>> private, shadow = private_and_shadow([Record("a"), Record("A!"), Record("b")], 1, 1, seed=0)
    >>> {record.tokens[0] for record in private + shadow} == {"a", "b"}
    True
    """
    n_private, n_shadow = checks.whole("n_private", n_private, 1), checks.whole("n_shadow", n_shadow)
    apart = checks.choice("split_by", split_by, SPLIT_BY) == "source"
    parts = _shuffled(records, seed, by_source=apart)
    enough = int(np.searchsorted(np.cumsum([len(part) for part in parts]), n_private)) + 1
    cut = max(enough, min(n_private, (len(parts) + 1) // 2))
    private = _in_turn(parts[:cut])[:n_private]
    taken = {normalised(record.text) for record in private}
    rest = _in_turn(parts[cut:] if shadow_records is None else _shuffled(shadow_records, seed, by_source=apart))
    rest = [record for record in rest if normalised(record.text) not in taken]
    if len(private) < n_private or len(rest) < n_shadow:
        raise ValueError(
            f"n_private + n_shadow: {n_private} + {n_shadow} are too many for {len(records)} records, "
            f"of which {len(rest)} are left for the shadow set; ask for fewer"
        )
    return private, rest[:n_shadow]


def source_numbers(records: Sequence[Record]) -> list[int]:
    """Number the source of each record as they come; a record without the field `part_of` is its own.

    >>> source_numbers([Record("a", None, {"part_of": 9}), Record("b"), Record("c", None, {"part_of": 9})])
    [0, 1, 0]
    """
    number: dict = {}
    keys = [record.fields.get("part_of", ("record", i)) for i, record in enumerate(records)]
    return [number.setdefault(key, len(number)) for key in keys]


def _shuffled(records: Sequence[Record], seed: int, *, by_source: bool) -> list[list[Record]]:
    """The records of each source, or each alone; sources in random order, and the records of each."""
    members: dict[int, list[Record]] = {}
    for number, record in zip(source_numbers(records) if by_source else range(len(records)), records, strict=True):
        members.setdefault(number, []).append(record)
    generator, parts = np.random.default_rng(seed), list(members.values())
    parts = [parts[i] for i in generator.permutation(len(parts))]
    return [part if len(part) == 1 else [part[i] for i in generator.permutation(len(part))] for part in parts]


def _in_turn(parts: Sequence[Sequence[Record]]) -> list[Record]:
    """The first record of every part, then the second of every part that has one, and so on."""
    return [part[k] for k in range(max(map(len, parts), default=0)) for part in parts if k < len(part)]


# --- reading ------------------------------------------------------------------------------------------------


def read_lines(file: Path) -> list[dict]:
    """Read the lines of a compressed file, `.jsonl.xz`, each a mapping."""
    with lzma.open(file, "rt", encoding="utf8") as lines:
        return [json.loads(line) for line in lines]


def _scored_sentences(entry: dict) -> tuple[list[Record], list[str]]:
    """Records of a tab-separated file of id, score and sentence, and the document that each is of.

    The id is "document_sentence" where sentences come from longer documents. The files are UTF-8.
    """
    content = (assets.fetch(entry["asset"]) / entry["file"]).read_text(encoding="utf8")
    rows = [line.split("\t", 2) for line in content.rstrip("\n").split("\n")]
    records = [Record(_unescape(text), float(score), {"id": key}) for key, score, text in rows]
    return records, [key.split("_")[0] for key, _, _ in rows]


def _drugs() -> tuple[list[Record], list[str]]:
    records = []
    for file in ("train.tsv", "test.tsv"):
        with (assets.fetch("drugs") / file).open(encoding="utf8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                fields = {"id": row[""], "drug": row["drugName"], "rating": row["rating"]}
                text = " ".join(_unescape(row["review"].strip('"')).split())
                records.append(Record(text, _unescape(row["condition"]) or None, fields))
    return records, [record.fields["id"] for record in records]


def _unescape(text: str) -> str:
    """`text` with characters for HTML entities; some in nyt are escaped twice."""
    return html.unescape(html.unescape(text))


def origin(name: str) -> str:
    """Say in words whose data a data set is when it is loaded now.

    >>> origin("rt")
    'of a package of the index'
    """
    entry = assets.registry()["datasets"].get(name, {})
    if entry.get("local", name) in _local_folders():
        return "the reader's own files, from TEXTSAN_DATA"
    if not entry:
        raise KeyError(unknown(name))
    if "packaged" in entry:
        return "of this project"
    asset = assets.registry()["assets"][entry["asset"]]
    return {"hub": "the papers' own, of the hub", "index": "of a package of the index"}[asset["source"]]


def _local_folders() -> dict[str, Path]:
    """Data sets in the folder that `TEXTSAN_DATA` names."""
    root = os.environ.get("TEXTSAN_DATA")
    if not root:
        return {}
    if not Path(root).is_dir():
        raise ValueError(f"TEXTSAN_DATA: {root!r} is not a folder; name one of <dataset>/<split>.jsonl.xz")
    return {file.parent.name: file.parent for file in sorted(Path(root).glob("*/*.jsonl.xz"))}


def _local_splits(name: str, entry: dict, folder: Path) -> dict[str, list[Record]]:
    splits = {}
    for file in folder.glob("*.jsonl.xz"):
        try:
            rows = read_lines(file)
        except (lzma.LZMAError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"TEXTSAN_DATA: {file} is damaged ({error}); put a whole copy there") from error
        splits[file.name.removesuffix(".jsonl.xz")] = _records(name, entry, rows)
    return splits


def _hub_splits(name: str, entry: dict) -> dict[str, list[Record]]:
    folder = assets.fetch(entry["asset"])
    rename, offset = entry.get("rename", {}), entry.get("label_offset", 0)
    splits = {}
    for split, file in entry["splits"].items():
        columns = {rename.get(column, column): values for column, values in read_columns(folder / file).items()}
        columns["label"] = [label + offset for label in columns["label"]]
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        splits[split] = _records(name, entry, rows)
    return splits


def _records(name: str, entry: dict, rows) -> list[Record]:
    column = entry.get("text", "text")
    records = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get(column), str):
            raise ValueError(f"dataset: row {number} of {name!r} has no {column!r}; it is not a set of texts")
        fields = {key: value for key, value in row.items() if key not in ("text", "label")}
        records.append(Record(row[column], row.get("label"), fields))
    return records


# --- splitting ----------------------------------------------------------------------------------------------


def _drawn_splits(name: str, records: list[Record], documents: list[str]) -> dict[str, list[Record]]:
    """Splits by a hash of `SPLIT_SEED`; sentences of one document, and equal ones, go the same way."""
    leader: dict[tuple[str, str], tuple[str, str]] = {}

    def group(member):
        while leader.setdefault(member, member) != member:
            member = leader[member]
        return member

    sentences = [("sentence", normalised(record.text)) for record in records]
    for sentence, document in zip(sentences, documents, strict=True):
        leader[group(("document", document))] = group(sentence)
    splits: dict[str, list[Record]] = {split: [] for split, _ in _SHARES} | {"all": records}
    for sentence, record in zip(sentences, records, strict=True):
        digest = hashlib.sha256(f"{SPLIT_SEED} {name} {group(sentence)[1]}".encode()).digest()
        draw = int.from_bytes(digest[:8]) / 2**64
        splits[next(split for split, end in _SHARES if draw < end)].append(record)
    return splits


def _own_splits(splits: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """The splits, without what is elsewhere too (test keeps its own, then dev, then others), and all rows."""
    extra = sorted(set(splits) - {"train", "dev", "test"})
    later: set[str] = set()
    kept: dict[str, list[Record]] = {}
    for split in ("test", "dev", *extra, "train"):
        keys = [_sentences(record) for record in splits.get(split, [])]
        kept[split] = [record for record, key in zip(splits.get(split, []), keys, strict=True) if not later & key]
        later |= set().union(*keys)
    order = [split for split in ("train", "dev", "test", *extra) if split in splits]
    everything = [record for split in order for record in splits[split]]
    return {split: kept[split] for split in order} | {"all": everything}


def _sentences(record: Record) -> set[str]:
    pair = [record.fields[column] for column in ("sentence1", "sentence2") if column in record.fields]
    return {normalised(text) for text in pair or [record.text]}


_SOURCES = {
    "phrases": lambda records: phrase_sources([record.text.split() for record in records]),
    "pairs": lambda records: sharing([_sentences(record) for record in records]),
    "runs": lambda records: sharing_runs([record.tokens for record in records]),
}
