"""The reader and the noisy-channel attack: tables by hand, invariances, a world with a known optimum, no leak."""

import json
import shutil

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors import safe_open

from textsan import Channel
from textsan.attacks import ContextFreeBayes, MarkovBayes, NoisyChannel
from textsan.attacks.expected_embeddings import ExpectedEmbeddings
from textsan.attacks.training_text import folds, held_out_split, windows
from textsan.cli import main
from textsan.evaluation import attack_success_rate, sensitive_positions, words_at
from textsan.models import encoders
from textsan.models.context_model import IMPOSSIBLE, Reader, load_adapter
from textsan.priors import MarkovModel
from textsan.sweeps.problems import CORPORA
from textsan.text.corpora import Record, load_dataset, normalised
from textsan_book.studies import adapters

pytestmark = pytest.mark.usefixtures("default_data")

MATRIX = [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.0, 0.5, 0.5]]
CHANNEL = Channel.from_matrix(MATRIX, ["a", "b", "c"], ["a", "b", "c"])
COUNTS = {"a": 3, "b": 1, "the": 5}
ADAPTERS = sorted(encoders.ADAPTERS.glob("*.safetensors"))


class Letters:
    """Stands in for a reader: the vector of a letter is its number."""

    masked = torch.tensor([-1.0])

    def vectors(self, words):
        return torch.tensor([[float(ord(word[0]) - ord("a"))] for word in words])


@pytest.fixture(scope="module")
def reader():
    return Reader()


def test_slots_by_hand():
    slots = ExpectedEmbeddings(
        CHANNEL.keeping({"the"}), COUNTS, Letters(), k=3, attacked=set(CHANNEL.inputs) - {"the"}
    )
    batch, known, table = slots.batch([["a", "the", "c"], ["b"]], [(0, 0), (0, 2), (1, 0)], ["a", "a", "c"])
    # Prior 4 : 2 : 1. Pr(x | a) is 2 : 0.5 : 0; with one a less in the counts 3 : 2 : 1, and 1.5 : 0.5 : 0.
    assert torch.allclose(batch.slots[0, 0], torch.tensor([0.5 / 2.0]))
    assert batch.slots[0, 1] == ord("t") - ord("a")
    assert batch.log_prior[0].exp().tolist() == pytest.approx([2 / 2.5 * 0.75, 0.5 / 2.5, 0.0])
    # "a" cannot become "c": no truth among the candidates, and nothing to take off.
    assert batch.truth.tolist() == [0, -1, 2]
    # Pr(x | c) is 0 : 1 : 0.5.
    assert torch.allclose(batch.slots[0, 2], torch.tensor([(1 * 1 + 0.5 * 2) / 1.5]))
    # c was never counted: its 0 + 1 stays. Pr(x | b) is 2 : 0.5 : 0.5.
    assert torch.allclose(batch.slots[1, 0], torch.tensor([(0.5 + 0.5 * 2) / 3]))
    assert slots.rows[table[0], :2].tolist() == [0, 1]
    assert batch.log_prior[0, 2] == IMPOSSIBLE
    assert known.tolist() == [0, 1, 2]


def test_leaving_one_out_is_counting_without_it():
    slots = ExpectedEmbeddings(CHANNEL, COUNTS, Letters(), k=3)
    for truth, released in (("a", "a"), ("b", "c"), ("b", "b")):
        batch, _, _ = slots.batch([[released]], [(0, 0)], [truth])
        fewer = ExpectedEmbeddings(CHANNEL, COUNTS | {truth: COUNTS[truth] - 1}, Letters(), k=3)
        other, _, _ = fewer.batch([[released]], [(0, 0)])
        assert torch.allclose(batch.slots, other.slots)
        ours = dict(zip(batch.candidates[0, :, 0].tolist(), batch.log_prior[0].softmax(0).tolist(), strict=True))
        theirs = dict(zip(other.candidates[0, :, 0].tolist(), other.log_prior[0].softmax(0).tolist(), strict=True))
        assert ours == pytest.approx(theirs)


def test_attacked_slots_hold_sensitive_words_only():
    slots = ExpectedEmbeddings(CHANNEL, COUNTS, Letters(), k=3, attacked={"b", "c"})
    batch, _, _ = slots.batch([["b", "b"]], [(0, 1)])
    # Pr(x | b) is 2 : 0.5 : 0.5 over all words, 0.5 : 0.5 over the sensitive ones.
    assert batch.slots[0, :, 0].tolist() == pytest.approx([(0.5 + 1) / 3, 1.5])
    assert sorted(batch.candidates[0, batch.log_prior[0] > IMPOSSIBLE, 0].tolist()) == [1.0, 2.0]


def test_masks_hide_the_slot_alone():
    slots = ExpectedEmbeddings(CHANNEL, COUNTS, Letters(), k=3)
    batch, _, _ = slots.batch([["a", "b"]], [(0, 0), (0, 1)], masked=np.array([True, False]))
    plain, _, _ = slots.batch([["a", "b"]], [(0, 0), (0, 1)])
    assert batch.slots[0, 0] == -1
    assert torch.equal(batch.slots[0, 1], plain.slots[0, 1])
    assert torch.equal(batch.log_prior, plain.log_prior)


def test_splits_share_no_sentence():
    docs = [["a"], ["b"], ["c"], ["d"]] * 3
    learn, choose = held_out_split(docs, 0.5, seed=1)
    assert sorted(learn + choose) == list(range(12))
    assert not {docs[d][0] for d in learn} & {docs[d][0] for d in choose}
    parts = folds(docs, 3, seed=1)
    assert sorted(sum(parts, [])) == list(range(12))
    sentences = [{docs[d][0] for d in part} for part in parts]
    assert sum(map(len, sentences)) == 4
    with pytest.raises(ValueError, match="leaves a part empty"):
        held_out_split(docs, 0.0, seed=1)


def test_phrases_go_with_their_sentence():
    docs = [doc for i in range(20) for doc in ([f"a{i}", f"b{i}", f"c{i}"], [f"b{i}", f"c{i}"], [f"a{i}"])]
    for part in (*held_out_split(docs, 0.3, seed=1), *folds(docs, 4, seed=1)):
        inside = [docs[d][0][1:] for d in part]
        assert part and all(inside.count(number) == 3 for number in inside)


def sentence_batch(reader, docs):
    slots = ExpectedEmbeddings(CHANNEL, COUNTS, reader, k=3)
    return slots.batch(docs, [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))])[0]


def test_a_fresh_reader_reads_as_its_encoder(reader):
    batch = sentence_batch(reader, [["a", "b", "c"]])
    framed = torch.cat([reader.first[None], batch.slots[0], reader.last[None]])[None]
    encoder = encoders.load_encoder()
    with torch.no_grad():
        ours = reader.encoder(inputs_embeds=framed).last_hidden_state
        theirs = encoder(inputs_embeds=framed).last_hidden_state
    assert torch.allclose(ours, theirs, atol=1e-3)


ANIMALS = ["fish", "bird"]
VERBS = ["swims", "flies"]
KEPT = "red old big sad fat wet shy odd new raw hot dry fit low thin tall kind rich poor calm the".split()


def teach():
    """Fish swim and birds fly, noise hides the verb, and an attack has been taught that on other sentences."""
    docs = [[kept, *pair] for kept in KEPT[:-1] for pair in zip(ANIMALS, VERBS, strict=True)] * 3
    words = ANIMALS + VERBS
    flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    blind = np.array([[0.5, 0.5], [0.5, 0.5]])
    matrix = np.block([[flip, np.zeros((2, 2))], [np.zeros((2, 2)), blind]])
    channel = Channel.from_matrix(matrix, words, words)
    generator = np.random.default_rng(0)

    def sanitize(docs):
        return [
            [w if w in KEPT else words[generator.choice(4, p=matrix[words.index(w)])] for w in doc] for doc in docs
        ]

    counts = dict.fromkeys(words, 60)
    attack = NoisyChannel(channel, counts, adapter=None, bigrams=False)
    shadow = [["the", *doc[1:]] if doc[0] == "red" else doc for doc in docs]
    attack.fit(shadow, sanitize(shadow), epochs=20, learning_rate=1e-3)
    return attack, docs, sanitize(docs), channel, counts


@pytest.fixture(scope="module")
def taught(trained_once):
    return trained_once(teach, "textsan.attacks.noisy_channel")


def test_it_comes_near_the_exact_optimum(taught):
    attack, docs, released, channel, _ = taught
    pairs = [doc[1:] for doc in docs]  # what is kept tells nothing
    positions = sensitive_positions(pairs, set(channel.inputs))
    truths = words_at(pairs, positions)
    follow = [[0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]]
    optimum = MarkovBayes(channel, MarkovModel.from_arrays(channel.inputs, [0.5, 0.5, 0, 0], follow))
    seen = [doc[1:] for doc in released]
    best = attack_success_rate(optimum.reconstruct(seen, positions), truths)
    ours = attack_success_rate(attack.reconstruct(released, [(d, i + 1) for d, i in positions]), truths)
    blind = attack_success_rate(ContextFreeBayes(channel, {"fish": 1}).reconstruct(seen, positions), truths)
    assert blind.high < 0.8 < best.low
    assert ours.value > best.value - 0.03


def test_without_weight_it_is_the_context_free_attack(taught):
    attack, docs, released, channel, counts = taught
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    weights, attack.weights = attack.weights, (0.0, 0.0)
    try:
        guesses = attack.reconstruct(released, positions)
    finally:
        attack.weights = weights
    assert guesses == ContextFreeBayes(channel, counts).reconstruct(released, positions)


def test_masked_it_does_not_read_the_released_word(taught):
    attack, _, _, _, _ = taught
    docs, position = [["the", "fish", "swims"], ["the", "bird", "swims"]], [(0, 1), (1, 1)]
    attack.masked = True
    try:
        [_, rows, _, hidden, _] = attack._factors(docs, position)
    finally:
        attack.masked = False
    [_, _, _, seen, _] = attack._factors(docs, position)
    by_word = [dict(zip(line, values, strict=True)) for line, values in zip(rows, hidden, strict=True)]
    assert by_word[0][0] - by_word[0][1] == pytest.approx(by_word[1][0] - by_word[1][1], abs=0.02)
    assert not np.allclose(seen, hidden, atol=0.02)


def test_long_documents_are_read_in_parts(taught):
    attack, _, _, channel, _ = taught
    long = ["the", "fish", "swims"] * 100
    encoded = attack.reader.encoded
    guesses = attack.reconstruct([long], [(0, i) for i in range(300)])
    assert attack.reader.encoded - encoded == len(windows([300], 128)) == 3
    assert guesses[::3] == ["the"] * 100


def test_bad_input_is_named():
    attack = NoisyChannel(CHANNEL, COUNTS, adapter=None)
    for message, docs, released in (
        ("lengths differ", [["a"]], [["a", "b"]]),
        ("leaves a part empty", [["a"]], [["a"]]),
    ):
        with pytest.raises(ValueError, match=message):
            attack.fit(docs, released)
    with pytest.raises(KeyError, match="without-mars"):
        NoisyChannel(CHANNEL, COUNTS, adapter="without-mars")


@pytest.mark.parametrize("name", CORPORA)
def test_public_text_holds_no_sentence_of_the_attacked_corpus(name, monkeypatch):
    attacked = load_dataset(name, split="all")
    planted = Record(attacked[5].text.upper() + " ?!")
    assert normalised(planted.text) == normalised(attacked[5].text)

    def with_planted(corpus, split):
        records = load_dataset(corpus, split=split)
        return records if corpus == name else [*records, planted]

    monkeypatch.setattr(adapters, "load_dataset", with_planted)
    keys = {normalised("".join(record.text for record in [r])) for r in attacked}
    public = adapters.public_sentences(name)
    assert planted.tokens not in public
    assert not {normalised("".join(doc)) for doc in public} & keys
    assert len(public) > 10_000


@pytest.mark.parametrize("file", ADAPTERS, ids=lambda file: file.stem)
def test_committed_adapters_are_what_their_recipes_say(file, reader):
    recipe = load_adapter(reader, file.stem)
    without = file.stem.removeprefix("without-")
    docs = adapters.public_sentences(without)
    assert without not in recipe["corpora"]
    assert recipe["text_sha256"] == adapters.text_sha256(docs)
    assert (recipe["sentences"], recipe["tokens"]) == (len(docs), sum(map(len, docs)))
    assert recipe["bytes"] == file.stat().st_size < 2_000_000
    with safe_open(file, framework="np") as tensors:
        assert {tensors.get_tensor(key).dtype for key in tensors.keys()} == {np.dtype("float16")}


def test_a_damaged_adapter_is_refused(tmp_path, reader):
    if not ADAPTERS:
        pytest.skip("no adapter is committed")
    name = ADAPTERS[0].stem
    for suffix in (".json", ".safetensors"):
        shutil.copy(ADAPTERS[0].with_suffix(suffix), tmp_path)
    file = tmp_path / f"{name}.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="sha256 of its recipe"):
        load_adapter(reader, name, tmp_path)


def test_train_mlm_writes_an_adapter_and_goes_on_where_it_was_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(adapters, "ROUND", 2)
    monkeypatch.setattr(adapters, "BATCH", 4)
    sentences = adapters.public_sentences("tweets")[:30]
    monkeypatch.setattr(adapters, "public_sentences", lambda without: sentences)
    checkpoint = tmp_path / "checkpoint.safetensors"
    command = ["train-mlm", "tweets", "--steps", "5", "--output", str(tmp_path / "whole")]
    result = CliRunner().invoke(main.main, command)
    assert result.exit_code == 0, result.output
    whole = tmp_path / "whole" / "without-tweets.safetensors"

    def killed(line):
        raise KeyboardInterrupt

    for _ in range(2):  # after step 2, then after step 4
        with pytest.raises(KeyboardInterrupt):
            adapters.train_adapter("tweets", tmp_path / "part", steps=5, checkpoint=checkpoint, say=killed)
    resumed = adapters.train_adapter("tweets", tmp_path / "part", steps=5, checkpoint=checkpoint)
    assert resumed.read_bytes() == whole.read_bytes()
    recipe = json.loads((tmp_path / "whole" / "without-tweets.json").read_text())
    assert recipe["command"] == "textsan train-mlm tweets --steps 5 --seed 0"
