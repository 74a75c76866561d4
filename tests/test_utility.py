"""Tasks on sanitized text: what is learnt, what it is scored by, what must not leak, and cells of a sweep."""

import json
from collections import Counter

import numpy as np
import pytest
import scipy
import yaml

from textsan import Embeddings, Split
from textsan.attacks.base import Attack
from textsan.mechanisms import CusText, Random
from textsan.models import encoders
from textsan.sweeps import problems, specification, sweep, tables
from textsan.text.corpora import Record, load_dataset
from textsan.utility import Examples, Outcome, Pieces, fine_tuning, frozen, paired_difference, score, tasks
from textsan_book.studies.exposure import exposure, unlisted, vulnerability_of

WORDS = "good bad dull fine film plot actor scene story music".split()


def vectors():
    return Embeddings(WORDS, np.random.default_rng(5).normal(size=(len(WORDS), 3)))


def records(n, seed=0):
    """Sentences of five words whose label is whether `good` is among them, half of them."""
    generator, made = np.random.default_rng(seed), []
    for number in range(n):
        words = generator.choice(WORDS[2:], size=4).tolist() + [WORDS[number % 2]]
        made.append(Record(" ".join(generator.permutation(words)), 1 - number % 2))
    return made


@pytest.fixture(scope="module")
def tiny(default_data):
    """An encoder of one narrow layer with the default one's pieces: it reads a bag of words, in no time."""
    from transformers import BertConfig, BertModel

    width = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    with encoders.seeded(0):
        return BertModel(BertConfig(vocab_size=30522, **width)).eval()


def test_scores_are_those_of_independent_libraries():
    from sklearn.metrics import accuracy_score, matthews_corrcoef

    generator = np.random.default_rng(0)
    truths, answers = generator.integers(0, 2, 200), generator.integers(0, 2, 200)
    assert score("accuracy", truths, answers) == accuracy_score(truths, answers)
    assert np.isclose(score("Matthews", truths, answers), matthews_corrcoef(truths, answers))
    x, y = generator.normal(size=(2, 200))
    assert np.isclose(score("Pearson r", x, x + y), scipy.stats.pearsonr(x, x + y).statistic)


@pytest.mark.parametrize("metric", ["Pearson r", "Matthews"])
def test_a_constant_answer_correlates_with_nothing(metric):
    assert score(metric, [0, 1, 1, 0], [1, 1, 1, 1]) == 0.0


def outcome(metric, truths, answers, sources=None):
    sources = np.arange(len(truths)) if sources is None else sources
    return Outcome(metric, np.asarray(truths, float), np.asarray(answers, float), sources, 0.0, 0.0, "")


def test_interval_covers_the_truth_about_as_often_as_it_says():
    inside = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        x, noise = generator.normal(size=(2, 150))
        found = outcome("Pearson r", x, 0.6 * x + 0.8 * noise).estimate(seed=seed, resamples=200)
        inside += found.low <= 0.6 <= found.high
    assert 0.88 <= inside / 200 <= 0.99


def test_interval_is_by_source_not_by_example():
    truths = np.repeat([0, 1, 0, 1, 0, 1, 1, 0], 25)
    answers = np.repeat([0, 1, 0, 1, 1, 0, 1, 0], 25)  # a source is right or wrong as a whole
    wide = outcome("accuracy", truths, answers, np.repeat(np.arange(8), 25)).estimate()
    narrow = outcome("accuracy", truths, answers).estimate()
    assert wide.value == narrow.value and wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_paired_difference_is_narrower_than_two_intervals_and_refuses_strangers():
    generator = np.random.default_rng(1)
    truths = generator.integers(0, 2, 300)
    one = np.where(generator.random(300) < 0.8, truths, 1 - truths)
    other = np.where(np.arange(300) < 6, 1 - one, one)
    first, second = outcome("accuracy", truths, one), outcome("accuracy", truths, other)
    gap, alone = paired_difference(first, second), first.estimate()
    assert np.isclose(gap.value, alone.value - second.estimate().value)
    assert gap.high - gap.low < 0.5 * (alone.high - alone.low)
    with pytest.raises(ValueError, match="other examples"):
        paired_difference(first, outcome("accuracy", 1 - truths, other))


def test_chance_is_the_larger_class_and_right_has_a_sign_each():
    one = outcome("accuracy", [1, 1, 0, 1], [1, 0, 0, 1])
    assert one.chance == 0.75 and one.right == "+.++"
    assert outcome("Pearson r", [0.5, 1], [1, 1]).right == "" and outcome("Matthews", [0, 1], [0, 1]).chance == 0


def test_pieces_are_those_of_the_whole_text(default_data):
    docs = [record.tokens for record in load_dataset("rt")[:50]]
    tokenizer = encoders.load_tokenizer()
    for doc, pieces in zip(docs, Pieces().of(docs), strict=True):
        assert pieces == tokenizer.encode(" ".join(doc), add_special_tokens=False).ids


def test_looked_up_words_become_unknown_where_they_are_rare_or_capitalised(default_data):
    looked_up, as_text = Pieces(words="pieces"), Pieces()
    [unknown] = encoders.word_pieces([encoders.UNKNOWN])[0]
    assert looked_up.of([["film", "Film", "unfunniest"]])[0][1:] == [unknown] * 2
    assert as_text.of([["Film"]]) == as_text.of([["film"]]) and unknown not in as_text.of([["unfunniest"]])[0]
    assert looked_up.unknown([["film", "unfunniest"]]) == 0.5 and as_text.unknown([["unfunniest"]]) == 0


def test_sentences_of_one_source_stay_in_one_part():
    sources = np.arange(60) // 3
    texts = Examples([["a"]] * 60, None, np.arange(60.0), sources)
    one, other = texts.split(0.2, seed=3)
    assert not set(one.sources) & set(other.sources) and len(one) + len(other) == 60 and len(other) == 12
    with pytest.raises(ValueError, match="share"):
        texts.take([0, 1]).split(0.5, seed=0)


def test_both_texts_of_a_pair_are_sanitized_and_labels_are_not():
    mechanism, docs = Random(vectors()), [WORDS] * 30
    pairs = Examples(docs, docs, np.arange(30.0), np.arange(30))
    made = pairs.sanitized(mechanism, seed=0)
    assert made.first != made.second and made.first != docs and np.array_equal(made.labels, pairs.labels)
    assert made.first == mechanism.sanitize(docs, 0)  # what an attack on the first texts sees
    assert "good" not in repr(made)


@pytest.mark.parametrize(("epsilon", "low", "high"), [(1000.0, 0.95, 1.0), (0.0, 0.0, 0.75)])
def test_a_planted_word_is_learnt_unless_it_is_hidden(tiny, epsilon, low, high):
    """The label is one word: found where sanitizing keeps it, lost where every word becomes any other."""
    mechanism = CusText(vectors(), epsilon, k=len(WORDS))
    found = tasks.Sentiment().learn(records(300), records(200, seed=1), mechanism, seed=0, model=tiny)
    assert low <= found.estimate().value <= high and found.chance == 0.5


def test_original_text_does_not_depend_on_the_mechanism(tiny):
    task = tasks.Sentiment(text="original")
    known, asked = records(120), records(60, seed=1)
    one, other = (task.learn(known, asked, Random(vectors()), seed=seed, model=tiny) for seed in (0, 0))
    assert np.array_equal(one.answers, other.answers) and one.estimate().value > 0.9


def test_the_validation_part_chooses_and_the_test_part_does_not(tiny, monkeypatch):
    """A head that is good on the validation part alone is chosen, however bad it is in the test."""

    def planted(metric, strength, seen, labels, others):
        good, bad = strength == 1.0, strength == 10.0
        return [validation if good else 1 - validation, test if bad else 1 - test]

    parts = [tasks.Sentiment().examples(records(40, seed=s), 0) for s in range(3)]
    validation, test = parts[1].labels, parts[2].labels
    monkeypatch.setattr(frozen, "_fitted", planted)
    found = frozen.learn(*parts, "accuracy", model=tiny)
    assert (found.chosen, found.validation, found.estimate().value, found.best_on_test) == ("strength 1", 1, 0, 1)


def test_one_class_alone_teaches_nothing(tiny):
    one = tasks.Sentiment().examples([Record("good", 1)] * 4, 0)
    with pytest.raises(ValueError, match="two classes"):
        frozen.learn(one, one, one, "accuracy", model=tiny)
    with pytest.raises(ValueError, match="two classes"):
        fine_tuning.learn(one, one, one, "accuracy")


def test_fine_tuning_learns_a_planted_word_and_repeats_itself(default_data):
    parts = [tasks.Sentiment().examples(records(n, seed=s), 0) for s, n in enumerate((112, 24, 40))]
    settings = {"epochs": 2, "batch": 16, "learning_rate": 3e-4}
    assert fine_tuning.learn(*parts, "accuracy", seed=1, **settings).estimate().value > 0.9
    few = [part.take(range(16)) for part in parts]
    one, other = (fine_tuning.learn(*few, "accuracy", seed=1, **settings | {"epochs": 1}) for _ in range(2))
    assert np.array_equal(one.answers, other.answers)


@pytest.fixture
def world(monkeypatch, tiny):
    """Sentences of made-up reviews; the encoder is the tiny one."""

    def split(dataset, n_private, n_shadow, seed, **asked):
        made = records(n_private + n_shadow, seed=seed)
        docs = [record.tokens for record in made]
        return Split(docs[:n_private], docs[n_private:], vectors(), tuple(made[:n_private]))

    monkeypatch.setattr(problems, "_split", split)
    monkeypatch.setattr(problems, "load_dataset", lambda name, split: records(80, seed=99))
    monkeypatch.setattr(sweep.corpora, "load_dataset", lambda name: [])
    monkeypatch.setattr(encoders, "load_encoder", lambda name=encoders.ENCODER, **options: tiny)


SPEC = {
    "dataset": "rt",
    "n_private": 60,
    "n_shadow": 20,
    "defence": [{"name": "custext", "epsilon": [1, 9], "k": 5}],
    "attack": "unchanged",
    "task": ["sentiment", {"name": "sentiment", "text": "original"}],
}


def cells_of(folder, **changes):
    (folder / "spec.yml").write_text(yaml.safe_dump({k: v for k, v in (SPEC | changes).items() if v is not ...}))
    return specification.read_spec(folder / "spec.yml")


def test_an_attack_that_answers_too_little_is_named(world):
    class Short(Attack):
        def reconstruct(self, docs, positions):
            return ["good"]

    problem = problems.prepare("rt", 60, 20, None, 0, "custext", epsilon=9.0, k=5)
    with pytest.raises(ValueError, match=r"attack: Short gives 1 guesses for \d+ positions"):
        problem.guesses(Short())


def test_test_examples_are_the_same_under_every_seed(world):
    some = [problems.prepare("rt", 60, 20, None, s, "custext", epsilon=9.0, k=5) for s in (0, 1)]
    one, other = (problem.utility("sentiment", n_test=30) for problem in some)
    assert np.array_equal(one.truths, other.truths) and np.array_equal(one.sources, other.sources)


def test_sweep_has_a_cell_for_each_attack_and_each_task(world, tmp_path):
    cells = cells_of(tmp_path)
    assert [("attack" in cell, "task" in cell) for cell in cells] == [(True, False)] * 2 + [(False, True)] * 4
    assert len({cell.name for cell in cells}) == 6
    assert len({json.dumps(specification.released_by(cell)) for cell in cells}) == 2  # two families
    assert sweep.run(cells, tmp_path, workers=1) == []
    (tmp_path / "utility.csv").write_bytes((tmp_path / "results.csv").read_bytes())
    rows = tables.load_tables(tmp_path, "utility.csv")
    asked = rows[rows.task.notna()]
    assert len(asked) == 4 and set(asked["task.text"]) == {"released", "original"} and asked.asr.isna().all()
    assert all(low <= value <= high for value, low, high in asked.filter(regex="^utility").to_numpy(float))
    assert all((row.right.count("+") / len(row.right)) == pytest.approx(row.utility) for row in asked.itertuples())
    assert tables.estimate(asked.iloc[0], "utility").value == asked.iloc[0].utility
    original = asked[asked["task.text"] == "original"]
    assert original.utility.nunique() == 1 and original.utility.iloc[0] > 0.85


def test_specification_refuses_what_no_task_knows(world, tmp_path):
    with pytest.raises(KeyError, match="unknown; known: sentiment"):
        cells_of(tmp_path, task="grammar")
    with pytest.raises(ValueError, match="protocol"):
        cells_of(tmp_path, task={"name": "sentiment", "protocol": "thawed"})
    with pytest.raises(KeyError, match="attack"):
        cells_of(tmp_path, task=..., attack=...)


def test_exposure_counts_kept_words_and_is_that_of_a_small_world(world):
    """Against enumeration: V(X | Y) over all words, kept ones included, less those without a row."""
    problem = problems.prepare("rt", 60, 20, None, 0, "custext", epsilon=2.0, k=5)
    docs = [[*doc, "unlisted"] for doc in problem.split.private]
    counts = Counter(word for doc in docs for word in doc)
    channel = problem.mechanism.channel
    joint = np.array(
        [[counts[x] * p for p in row] for x, row in zip(channel.inputs, channel.matrix(), strict=True)]
    )
    assert np.isclose(exposure(problem.mechanism, docs), joint.max(axis=0).sum() / counts.total())
    own = vulnerability_of(problem.mechanism, problem.split.private, problem.mechanism.protected)
    assert np.isclose(own, problem.vulnerability)
    keeping = problem.mechanism.with_(keep=frozenset(WORDS))
    assert np.isclose(exposure(keeping, docs), 1 - counts["unlisted"] / counts.total())


@pytest.mark.parametrize("name", ["custext", "custext+", "santext"])
def test_exposure_of_kept_unknown_words_is_that_of_every_release(world, name):
    """Against a channel in which unlisted words have rows of their own: keeping gives their share away."""
    given = {"epsilon": 2.0} | ({} if name == "santext" else {"k": 5})
    problem = problems.prepare("rt", 60, 20, None, 0, name, oov="keep", **given)
    docs = [[*doc, "unlisted", *(["elsewhere"] if i % 3 else [])] for i, doc in enumerate(problem.split.private)]
    counts, channel = Counter(word for doc in docs for word in doc), problem.mechanism.channel
    more = [word for word in counts if word not in channel.input_index]
    assert sorted(more) == ["elsewhere", "unlisted"] == sorted(unlisted(problem.mechanism, counts))
    size = len(channel.inputs), len(channel.outputs)
    rows = np.zeros((size[0] + 2, size[1] + 2))
    rows[:-2, :-2], rows[-2:, -2:] = channel.matrix(), np.eye(2)
    joint = np.array([counts[x] for x in [*channel.inputs, *more]])[:, None] * rows
    assert np.isclose(exposure(problem.mechanism, docs), joint.max(axis=0).sum() / counts.total())
    hiding = exposure(problem.mechanism.with_(oov="uniform"), docs)
    share = sum(counts[word] for word in more) / counts.total()
    assert np.isclose(exposure(problem.mechanism, docs) - hiding, share)


def test_a_kept_unknown_word_that_is_also_an_output_hides_behind_likelier_ones():
    """Outputs of another list: who sees such a word guesses it, or what is more often released as it."""
    inputs, outputs = Embeddings(["a"], [[0.0]]), Embeddings(["a", "b"], [[0.0], [1.0]])
    one = CusText(inputs, 0.0, k=2, mapping="overlapping", outputs=outputs, oov="keep")
    for often, expected in ((1, (2 + 2) / 5), (4, (2 + 4) / 8)):  # "a" comes out as either, twice of four times
        assert np.isclose(exposure(one, [["a"] * 4 + ["b"] * often]), expected)
