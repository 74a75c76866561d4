"""Mask inference: the released word is hidden, scores against transformers and a reader by hand, odd words."""

import numpy as np
import pytest
import torch

from textsan.attacks import Knowledge, MaskedBert, MaskedReader, MaskInference, PublicReader
from textsan.base import assets
from textsan.channel import Channel
from textsan.models import encoders
from textsan.models.context_model import Batch
from textsan.priors import NGrams

pytestmark = pytest.mark.usefixtures("default_data")

ADAPTER = "without-rt"
WORDS = "movie film cat undersupplied , the good".split()
DOC = "the film was good , though slow".split()
COUNTS = {"the": 9, ",": 7, "film": 3}


@pytest.fixture(scope="module")
def reader():
    return MaskedReader(WORDS, COUNTS, ADAPTER)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A small random BERT with its head, in a folder as the hub has it, under the name "tiny-bert"."""
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("tiny-bert")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(**sizes, max_position_embeddings=64, initializer_range=0.5))
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (folder / name).write_bytes((assets.fetch(encoders.ENCODER) / name).read_bytes())
    fetch = assets.fetch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assets, "fetch", lambda name: folder if name == "tiny-bert" else fetch(name))
        yield folder


@pytest.fixture(scope="module")
def bert(tiny):
    return MaskedBert(WORDS, "tiny-bert")


@pytest.fixture(scope="module")
def trigrams():
    return PublicReader(WORDS)


@pytest.fixture(params=["reader", "bert", "trigrams"])
def model(request):
    return request.getfixturevalue(request.param)


def test_it_never_sees_the_released_word(model):
    changed = [[*DOC[:3], word, *DOC[4:]] for word in ("good", "undersupplied", "[MASK]", "")]
    scores = model.log_scores(changed, [3] * 4)
    assert (scores == scores[0]).all()
    assert len(set(MaskInference(model).reconstruct(changed, [(d, 3) for d in range(4)]))) == 1
    context = model.log_scores([DOC, [*DOC[:2], "a", *DOC[3:]]], [3, 3])
    assert not np.allclose(context[0], context[1], atol=0.02)


def test_neighbours_in_a_batch_do_not_matter(model):
    docs = [DOC, ["good"], DOC * 3]
    together = model.log_scores(docs, [0, 0, 9])
    alone = np.concatenate([model.log_scores([doc], [i]) for doc, i in zip(docs, [0, 0, 9], strict=True)])
    assert np.allclose(together, alone, atol=1e-4)
    assert together.std(axis=0).max() > 0.1


class Recorder:
    words = ["a"]

    def __init__(self):
        self.shown = []

    def log_scores(self, docs, indices):
        self.shown += zip(docs, indices, strict=True)
        return np.zeros((len(docs), 1))


def test_of_long_documents_what_is_near_is_shown():
    doc, recorder = [str(i) for i in range(300)], Recorder()
    assert MaskInference(recorder).reconstruct([doc], [(0, i) for i in (0, 150, 299)]) == ["a"] * 3
    starts = [int(part[0]) for part, _ in recorder.shown]
    assert starts == [0, 150 - 64, 300 - 128]
    for (part, index), start, i in zip(recorder.shown, starts, (0, 150, 299), strict=True):
        assert (part, part[index]) == (doc[start : start + 128], str(i))


@pytest.mark.parametrize("index", range(6))
def test_scores_of_the_table_are_those_of_whole_sentences(trigrams, index):
    """The probability of the sentence with each word in the blank, by the chain rule, one word after another."""
    table, doc, expected = NGrams.load(), "the new film was very good".split(), []
    for x in trigrams.words:
        line = ["<s>", "<s>", *doc[:index], x, *doc[index + 1 :], "</s>"]
        expected.append(sum(table.log_probabilities([line[t - 2 : t + 1]])[0] for t in range(2, len(line))))
    assert trigrams.words == [word for word in WORDS if word not in {"undersupplied", ","}]
    scores = trigrams.log_scores([doc], [index])[0]
    assert scores - scores[0] == pytest.approx(np.array(expected) - expected[0], abs=1e-9)


@pytest.mark.parametrize(
    ("doc", "index", "grams"),
    [
        ("qqzz ? was good", 1, [("?",), ("?", "was"), ("?", "was", "good")]),
        ("the ? qqzz good", 1, [("<s>", "the", "?")]),
        ("the ? was qqzz", 1, [("<s>", "the", "?"), ("the", "?", "was")]),
        ("qqzz the ? qqzz", 2, [("the", "?")]),
        ("?", 0, [("<s>", "?"), ("<s>", "?", "</s>")]),
    ],
)
def test_what_the_table_does_not_know_is_left_out(trigrams, doc, index, grams):
    table = NGrams.load()
    expected = [
        sum(table.log_probabilities([[word.replace("?", x) for word in gram]])[0] for gram in grams)
        for x in trigrams.words
    ]
    scores = trigrams.log_scores([doc.split()], [index])[0]
    assert scores - scores[0] == pytest.approx(np.array(expected) - expected[0], abs=1e-9)


def test_words_that_the_table_does_not_know_are_never_answered():
    channel = Channel.from_matrix(np.eye(3), inputs=["film", "qqzz", "the"], outputs=["film", "qqzz", "the"])
    attack = MaskInference.against(Knowledge(channel))
    assert attack.model.words == ["film", "the"]
    assert attack.reconstruct([["the", "qqzz"]], [(0, 1)])[0] in {"film", "the"}
    with pytest.raises(ValueError, match="words: the public table knows none of 1; pass English words"):
        PublicReader(["qqzz"])
    with pytest.raises(ValueError, match="adapter: 'without-rt' is not asked where the public table reads"):
        MaskInference.against(Knowledge(channel), adapter=ADAPTER)


def test_scores_of_the_reader_by_hand(reader):
    vectors = reader.reader.vectors(DOC)
    slots = torch.cat([vectors[:4], reader.reader.masked[None], vectors[5:]])[None]
    candidates = reader.reader.vectors(WORDS)[None]
    with torch.no_grad():
        s = reader.reader(Batch(slots, torch.tensor([7]), torch.tensor([[0, 4]]), candidates, torch.zeros(1)))
    expected = s[0].numpy() + np.log([COUNTS.get(word, 0) + 1 for word in WORDS])
    assert reader.log_scores([DOC], [4])[0] == pytest.approx(expected, abs=1e-5)
    assert reader.words == WORDS


def test_scores_are_those_of_transformers(bert, tiny):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    reference = AutoModelForMaskedLM.from_pretrained(tiny)
    inputs = tokenizer("The film was [MASK] , though undersupplied", return_tensors="pt")
    at = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero())
    with torch.no_grad():
        logits = reference(**inputs).logits[0, at]
    doc = ["The", "film", "was", "undersupplied", ",", "THOUGH", "undersupplied"]  # cased, and several pieces
    expected = logits[tokenizer.convert_tokens_to_ids(bert.words)].numpy()
    assert bert.log_scores([doc], [3])[0] == pytest.approx(expected, abs=1e-3)


def test_words_of_several_pieces_are_never_answered(bert):
    assert bert.words == [word for word in WORDS if word != "undersupplied"]
    with pytest.raises(ValueError, match="single piece"):
        MaskedBert(["undersupplied", "\u200b"], "tiny-bert")


def test_sentences_beyond_what_the_model_can_read(bert):
    doc = ["undersupplied"] * 60  # 3 pieces each, 64 places
    scores = [bert.log_scores([doc], [i])[0] for i in (0, 30, 59)]
    assert np.isfinite(scores).all()
    pieces, at = bert._masked(doc, 30)
    assert len(pieces) <= 64
    assert pieces[at] == encoders.word_pieces([encoders.MASK])[0][0]


def test_bad_input_is_named(tiny):
    channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"], outputs=["a", "b"])
    for message, call in {
        "words: none": lambda: MaskedReader([], COUNTS, ADAPTER),
        "words: no": lambda: MaskedBert([], "tiny-bert"),
        "without-mars": lambda: MaskedReader(WORDS, COUNTS, "without-mars"),
        "no-such-model": lambda: MaskedBert(WORDS, "no-such-model"),
        "no masked-language-model head": lambda: MaskedBert(WORDS, encoders.ENCODER),
        "no adapter is granted": lambda: MaskInference.against(Knowledge(channel, shadow=[["a"]]), public=False),
    }.items():
        with pytest.raises((KeyError, ValueError), match=message):
            call()
