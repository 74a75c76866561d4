"""Parts of speech: which words are nouns, verbs, adjectives, by spaCy's small English model."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

_KINDS = {"NOUN": "noun", "PROPN": "name", "VERB": "verb", "AUX": "verb", "ADJ": "adjective", "ADV": "adverb"}
_KINDS |= {"NUM": "number"}


def parts_of_speech(docs: Iterable[Sequence[str]]) -> list[list[str]]:
    """Tag each token of unsanitized documents with its part of speech, in its sentence, or "other".

    The tagger, spaCy's, is a small network trained on text as it is printed; of lower-case text it knows fewer
    names.
    """
    tagger = _tagger()
    from spacy.tokens import Doc

    made = (Doc(tagger.vocab, words=list(doc)) for doc in docs)
    return [[_KINDS.get(token.pos_, "other") for token in doc] for doc in tagger.pipe(made)]


def usual_parts(docs: Sequence[Sequence[str]], words: Iterable[str]) -> dict[str, str]:
    """Find the part of speech that each word has most often in some text; by itself where it is not there."""
    counts: dict[str, Counter] = {}
    for doc, kinds in zip(docs, parts_of_speech(docs), strict=True):
        for word, kind in zip(doc, kinds, strict=True):
            counts.setdefault(word, Counter())[kind] += 1
    words = list(dict.fromkeys(words))
    alone = iter(parts_of_speech([word] for word in words if word not in counts))
    return {word: counts[word].most_common(1)[0][0] if word in counts else next(alone)[0] for word in words}


@cache
def _tagger():
    try:
        import spacy

        [name, *_] = [name for name in spacy.util.get_installed_models() if name.startswith("en_core_web_sm")]
    except (ImportError, ValueError):
        raise ValueError(
            "parts of speech need spaCy and its English model; pip install '.[pii]' in a clone"
        ) from None
    return spacy.load(name, disable=["parser", "ner", "lemmatizer"])
