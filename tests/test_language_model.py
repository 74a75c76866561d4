"""The language model as a source: exact words, exact posteriors in small worlds, and odd input."""

import itertools

import numpy as np
import pytest
import scipy

from textsan import Channel, Knowledge, Prior
from textsan.attacks import ATTACKS, LanguageModelBayes, MarkovBayes
from textsan.priors import LanguageModel, MarkovModel

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
WORDS = list("abcde")


def world(seed, n=5, sparse=False):
    """A Markov source over `n` words with a dense channel, or one of disjoint groups."""
    rng = np.random.default_rng(seed)
    words = WORDS[:n]
    matrix = rng.dirichlet(np.full(n, 0.7), n)
    if sparse:
        groups = np.arange(n) // 2
        matrix = np.where(groups[:, None] == groups, matrix, 0)
        matrix /= matrix.sum(axis=1, keepdims=True)
    model = MarkovModel.from_arrays(words, rng.dirichlet(np.ones(n)), rng.dirichlet(np.full(n, 0.4), n))
    return Channel.from_matrix(matrix, words, words), model


def table(attack, doc, words):
    return np.array([[at.get(word, 0.0) for word in words] for at in attack.posterior(doc)])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_with_a_markov_chain_it_is_markov_bayes(seed, sparse):
    """A beam as wide as the candidates of a position is exact: prefixes that end alike are joined."""
    channel, model = world(seed, sparse=sparse)
    attack, exact = LanguageModelBayes(channel, model, beam=5), MarkovBayes(channel, model)
    docs = [list(np.random.default_rng(seed).choice(channel.outputs, n)) for n in (1, 4, 4, 30, 100)]
    for doc in docs:
        np.testing.assert_allclose(
            table(attack, doc, channel.inputs), table(exact, doc, channel.inputs), atol=1e-9
        )
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    together = attack.posteriors(docs, positions, k=5)
    one_by_one = [row for doc in docs for row in table(attack, doc, channel.inputs)]
    for at, row in enumerate(one_by_one):  # batches change nothing
        np.testing.assert_allclose([together.mapping(at).get(w, 0.0) for w in channel.inputs], row, atol=1e-12)


@pytest.mark.parametrize("temperature, counts", [(1.0, 0.0), (0.6, 0.0), (0.7, 0.5), (0.0, 1.0)])
def test_a_beam_of_all_sentences_is_enumeration(temperature, counts):
    channel, model = world(7, n=3)
    prior = Prior(channel.inputs, [0.5, 0.3, 0.2])
    given = {"prior": prior, "temperature": temperature, "counts": counts}
    attack = LanguageModelBayes(channel, model, beam=3**4, **given)
    doc = ["a", "c", "c", "b"]
    emission = channel.log_columns(doc) + counts * np.log(prior.probabilities)
    with np.errstate(divide="ignore"):
        start, step = np.log(model.initial), np.log(model.transition())
    expected = np.zeros((4, 3))
    for x in itertools.product(range(3), repeat=4):
        language = start[x[0]] + sum(step[a, b] for a, b in itertools.pairwise(x))
        weight = np.exp(temperature * language + sum(emission[t, x[t]] for t in range(4)))
        expected[range(4), x] += weight
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table(attack, doc, channel.inputs), expected, atol=1e-9)


@pytest.fixture(scope="module")
def small():
    """A model of 30 pieces with random weights: exactness needs no good model."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = list("abcd")
    vocabulary = ["<s>", "Ċ", *letters, *[f"Ġ{x}" for x in letters], "Ġ", "Ġab", "bc", "Ġabc", "cd"]
    merges = [("Ġ", "a"), ("Ġ", "b"), ("Ġ", "c"), ("Ġ", "d"), ("Ġa", "b"), ("b", "c"), ("Ġab", "c"), ("c", "d")]
    fast = Tokenizer(models.BPE({piece: i for i, piece in enumerate(vocabulary)}, merges))
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=fast, bos_token="<s>", eos_token="<s>")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(vocabulary), num_key_value_heads=1, initializer_range=0.6, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return LanguageModel(LlamaForCausalLM(config).eval(), tokenizer)


def strings(longest):
    return ["".join(x) for n in range(1, longest + 1) for x in itertools.product("abcd", repeat=n)]


def by_hand(model, prefix, word):
    """log q(word | prefix) from whole forwards without a cache."""

    def log_next(ids):
        with torch.inference_mode():
            return model.model(torch.tensor([ids])).logits[0, -1].double().log_softmax(-1).numpy()

    tokens = model.tokenizer.convert_ids_to_tokens(range(len(model.tokenizer)))
    over = [i for i, piece in enumerate(tokens) if piece[0] in "ĠĊ" or piece == "<s>"]
    ids = [0, *[piece for one in model.pieces(prefix) for piece in one]]
    total = -scipy.special.logsumexp(log_next(ids)[over])
    for piece in model.pieces([word])[0]:
        total += log_next(ids)[piece]
        ids = [*ids, piece]
    return total + scipy.special.logsumexp(log_next(ids)[over])


def test_words_are_exact_and_share_no_mass(small):
    """Words of one to many pieces, some the beginnings of others: as by hand, and never more than 1 together."""
    words = strings(4)
    assert {len(pieces) for pieces in small.pieces(words)} >= {1, 2, 3, 4}
    prefixes = [[], ["a"], ["abc", "d", "cdcd"]]
    logs = small.log_probabilities(prefixes, words)
    for line, prefix in zip(logs, prefixes, strict=True):
        for at in RNG.choice(len(words), 12, replace=False):
            assert line[at] == pytest.approx(by_hand(small, prefix, words[at]), abs=1e-4)
    mass = np.exp(logs).sum(axis=1)
    assert (mass <= 1 + 1e-6).all() and (mass > 0.3).all()
    # Without the ends there is more than there can be: what the factor is for.
    empty = small.begin(1)
    heads = np.exp(small.advance(empty, [0] * len(words), words)[1] - small.log_end(empty))
    assert heads.sum() > mass[0] + 0.05


def test_prefixes_read_together_are_those_read_alone(small):
    docs = [["a"], ["abcd", "b", "dd"], ["c", "abc"], []]
    alone = [sum(small.log_probabilities([doc[:t]], [word])[0, 0] for t, word in enumerate(doc)) for doc in docs]
    state, total = small.begin(4), np.zeros(4)
    start = small.log_end(small.begin(1))[0]
    rows = np.arange(4)
    for t in range(3):
        going = [d for d in range(4) if t < len(docs[d])]
        at = [int(np.flatnonzero(rows == d)[0]) for d in going]
        state, logs = small.advance(state, at, [docs[d][t] for d in going])
        total[going] += logs
        rows = np.array(going)
        for place, d in enumerate(going):
            if t == len(docs[d]) - 1:
                total[d] += small.log_end(state)[place] - start
    np.testing.assert_allclose(total, alone, atol=1e-4)
    assert alone[3] == 0


def test_a_beam_of_all_sentences_is_enumeration_of_a_language_model(small):
    """Temperature, several pieces, and the end of the sentence: the posterior of a source that has a memory."""
    words = ["a", "abcd", "dd"]
    channel = Channel.from_matrix(np.random.default_rng(2).dirichlet(np.ones(3), 3), words, words)
    doc = ["dd", "a", "abcd"]
    for temperature in (1.0, 0.5):
        attack = LanguageModelBayes(channel, small, beam=27, temperature=temperature)
        emission, expected = channel.log_columns(doc), np.zeros((3, 3))
        for x in itertools.product(range(3), repeat=3):
            state, total = small.begin(1), 0.0
            for word in x:
                state, logs = small.advance(state, [0], [words[word]])
                total += logs[0]
            weight = temperature * (total + small.log_stop(state)[0]) + sum(emission[t, x[t]] for t in range(3))
            expected[range(3), x] += np.exp(weight)
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(table(attack, doc, words), expected, atol=1e-5)


def test_odd_input_has_an_answer(small):
    """A sentence of 600 words, an empty one, a word of 40 pieces, a word that is no output."""
    words = ["a", "b", "dcab" * 10, "abc"]
    channel = Channel.from_matrix(np.full((4, 4), 0.25), words, words)
    assert len(small.pieces(["dcab" * 10])[0]) == 40
    attack = LanguageModelBayes(channel, small, beam=3)
    long = list(np.random.default_rng(0).choice(words, 600))
    docs = [long, [], ["dcab" * 10], ["zebra", "a"], []]
    positions = [(0, 0), (0, 127), (0, 128), (0, 599), (2, 0), (3, 0), (3, 1)]
    found = attack.posteriors(docs, positions, k=4)
    np.testing.assert_allclose(np.exp(found.log_probabilities).sum(axis=1)[[0, 1, 2, 3, 4, 6]], 1)
    assert found.mode()[5] == "zebra"
    assert attack.reconstruct([[]], []) == [] and attack.posterior([]) == []
    assert attack.details["pieces"] > 0


def test_attacked_positions_hold_attacked_words(small):
    words = ["a", "b", "c"]
    channel = Channel.from_matrix(np.full((3, 3), 1 / 3), words, words)
    knowledge = Knowledge(channel, attacked=["a", "b"], resources={"language model": small})
    attack = ATTACKS["language model"].load()(knowledge)
    assert (attack.temperature, attack.counts) == (1.0, 0.0)  # no shadow text at all
    assert set(attack.reconstruct([["c", "c", "a"]], [(0, 0), (0, 1), (0, 2)])) <= {"a", "b"}
    kept = Knowledge(channel, kept=["c"], resources={"language model": small})
    assert ATTACKS["language model"].load()(kept).reconstruct([["c"]], [(0, 0)]) == ["c"]
    informed = Knowledge(channel, shadow=[["a", "b", "a"], ["a"]], resources={"language model": small})
    assert ATTACKS["language model"].load()(informed).counts > 0


def kept_world(seed):
    """Three words under attack and one that is kept, which they are released as, too."""
    rng = np.random.default_rng(seed)
    words = [*"abc", "the"]
    model = MarkovModel.from_arrays(words, rng.dirichlet(np.ones(4)), rng.dirichlet(np.full(4, 0.7), 4))
    return Channel.from_matrix(rng.dirichlet(np.ones(4), 4), words, words).keeping(["the"]), model


@pytest.mark.parametrize("seed", range(3))
def test_a_word_under_attack_can_be_released_as_a_kept_one(seed):
    """Such a word is asked about: enumeration, each question with the other kept words as they are."""
    channel, model = kept_world(seed)
    doc = ["the", "b", "the", "a", "the"]
    attack = LanguageModelBayes(channel, model, beam=4**5, attacked="abc")
    with np.errstate(divide="ignore"):
        emission, start, step = channel.log_columns(doc), np.log(model.initial), np.log(model.transition())
    found = table(attack, doc, channel.inputs)
    for asked, released in enumerate(doc):
        expected = np.zeros(4)
        lists = [[3] if y == "the" else [0, 1, 2] for y in doc]
        lists[asked] = [0, 1, 2]
        for x in itertools.product(*lists):
            language = start[x[0]] + sum(step[a, b] for a, b in itertools.pairwise(x))
            expected[x[asked]] += np.exp(language + sum(emission[t, x[t]] for t in range(5)))
        np.testing.assert_allclose(found[asked], expected / expected.sum(), atol=1e-9, err_msg=released)


def test_a_question_tells_nothing_of_other_positions():
    """The posterior of a position does not depend on which others are attacked, with narrow beams either."""
    channel, model = kept_world(5)
    docs = [list(np.random.default_rng(n).choice(channel.outputs, 20)) for n in range(4)]
    positions = [(d, i) for d in range(4) for i in range(20)]
    attack = LanguageModelBayes(channel, model, beam=2, attacked="abc")
    together = attack.posteriors(docs, positions, 4)
    assert set(together.mode()) <= set("abc")
    for at in range(0, 80, 7):
        alone = attack.posteriors(docs, [positions[at]], 4)
        assert alone.mapping(0) == pytest.approx(together.mapping(at), abs=1e-12)


def test_a_rare_word_under_attack_is_listed_beside_a_frequent_one_that_is_not():
    """The share of candidates that is listed is one of those under attack."""
    channel = Channel.from_matrix([[0.999, 0.001], [0.4, 0.6]], ["the", "a"], ["the", "a"])
    model = MarkovModel.from_arrays(["the", "a"], [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    prior = Prior(["the", "a"], [0.9, 0.1])
    attack = LanguageModelBayes(channel, model, prior=prior, counts=1.0, mass=0.9, attacked=["a"])
    assert attack.reconstruct([["the"]], [(0, 0)]) == ["a"]


def test_who_counts_nothing_does_not_look_at_the_shadow_text(small):
    """Candidates too are listed without it: planted, the shadow text holds one word alone."""
    rng = np.random.default_rng(3)
    words = [a + b for a in "abcd" for b in "abcd"]
    channel = Channel.from_matrix(rng.dirichlet(np.ones(16), 16), words, words)
    granted = {"kept": [], "resources": {"language model": small}}
    made = [
        LanguageModelBayes.against(Knowledge(channel, shadow=shadow, **granted), k=4, temperature=1.0, counts=0.0)
        for shadow in (None, [[words[0]] * 50])
    ]
    docs = [words[4:9], words[2:5]]
    places = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    blind, seen = (
        [sorted(p.mapping(at)) for at in range(len(places))] for p in (a.posteriors(docs, places, 4) for a in made)
    )
    assert blind == seen
    counting = LanguageModelBayes.against(Knowledge(channel, shadow=[[words[0]] * 50], **granted), k=4)
    table = counting.posteriors(docs, places, 4)
    assert [sorted(table.mapping(at)) for at in range(len(places))] != blind  # else nothing was tested


@pytest.mark.parametrize("name, value", [("beam", 0), ("mass", 1.5), ("temperature", -1), ("k", 0)])
def test_bad_settings_are_one_line(name, value):
    channel, model = world(0)
    with pytest.raises(ValueError, match=f"^{name}: "):
        LanguageModelBayes(channel, model, **{name: value})
