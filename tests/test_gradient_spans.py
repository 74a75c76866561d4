"""The exact attack by spans: the projection, the structural theorem, what breaks it; encoder and decoder."""

import pytest
import torch

from textsan.gradient_leakage import cases, spans, victims
from textsan_book.studies import decoders

TEXTS = ["a good film, and a long one", "not a good film", "the plot is thin but the cast is fine", "i slept"]
LABELS = [1, 0, 1, 0]


@pytest.fixture(scope="module")
def victim(default_data):
    return victims.load_victim(layers=2, seed=0).double()


def pairs(case):
    return {(piece, place) for row in case.sentences for place, piece in enumerate(row)}


def test_the_gradient_is_that_of_the_weights_by_finite_differences(victim):
    case = cases.make_case(victim, TEXTS[:2], LABELS[:2])
    name = "encoder.encoder.layer.0.attention.self.query.weight"
    weight, step = dict(victim.named_parameters())[name], 1e-5
    losses = []
    for sign in (1, -1):
        with torch.no_grad():
            weight[3, 5] += sign * step
            embedded = victim.words[case.ids]
            losses.append(victims.loss(victim, embedded, case.mask, case.shared.labels))
            weight[3, 5] -= sign * step
    assert float(case.shared.gradient[name][3, 5]) == pytest.approx(float(losses[0] - losses[1]) / 2e-5, rel=1e-3)


def test_embedding_gradients_are_not_shared(victim):
    names = set(cases.make_case(victim, TEXTS[:1], LABELS[:1]).shared.gradient)
    assert not [name for name in names if "word_embeddings" in name or "position_embeddings" in name]
    assert "pooler.weight" in names and "encoder.embeddings.LayerNorm.weight" in names


@pytest.mark.parametrize("text", range(4))
def test_one_sentence_is_found_and_nothing_else(victim, text):
    case = cases.make_case(victim, [TEXTS[text]], [LABELS[text]])
    found = spans.accepted(case.shared)
    assert found.pairs == pairs(case) and [[piece] for piece in case.sentences[0]] == found.pieces
    assert found.rank == len(case.sentences[0])


def test_residuals_in_one_product_are_those_of_the_vectors(victim):
    case = cases.make_case(victim, TEXTS[:2], LABELS[:2])
    found = spans.span(spans.stacked(case.shared))
    table = spans.residuals(victim, found, 6)
    for place in (0, 5):
        assert torch.allclose(table[:, place], found.residual(spans.inputs(victim, place)), atol=1e-6)


def test_the_basis_is_exact_where_the_decomposition_is_not(monkeypatch):
    """Singular vectors that are off by 1e-8, as on some processors, give the row space all the same."""
    torch.manual_seed(0)
    rows = torch.randn(12, 40, dtype=torch.float64)
    matrix = torch.randn(60, 12, dtype=torch.float64) * torch.logspace(0, -3, 12, dtype=torch.float64) @ rows
    exact = torch.linalg.svd

    def sloppy(*args, **options):
        left, values, right = exact(*args, **options)
        return left + 1e-8 * torch.randn_like(left), values, right + 1e-8 * torch.randn_like(right)

    monkeypatch.setattr(torch.linalg, "svd", sloppy)
    found = spans.span(matrix)
    assert found.rank == 12 and torch.allclose(found.basis @ found.basis.T, torch.eye(12).double(), atol=1e-14)
    assert found.residual(rows).max() < 1e-12
    assert found.residual(torch.randn(5, 40, dtype=torch.float64)).min() > 0.1


@pytest.mark.parametrize("texts", [TEXTS[:2], TEXTS, ["a film a", "film a film"], ["so so so so", "so very so"]])
def test_a_batch_accepts_the_closure_and_has_its_rank(victim, texts):
    case = cases.make_case(victim, texts, LABELS[: len(texts)])
    found, theory = spans.accepted(case.shared), spans.closure(pairs(case))
    assert (found.pairs, found.rank) == (set(theory.pairs), theory.rank)


def test_a_cycle_lets_in_false_candidates(victim):
    # "a" and "film" change places: a cycle of four edges; "x" hangs on it, and may now stand at its places, too.
    case = cases.make_case(victim, ["film a x", "a film a"], [0, 1])
    theory = spans.closure(pairs(case))
    assert not theory.forest and theory.pairs > pairs(case)
    assert spans.accepted(case.shared).pairs == set(theory.pairs)


def test_closure_by_hand():
    square = [(7, 0), (8, 0), (7, 1), (8, 1)]
    assert spans.closure(square).rank == 4 and not spans.closure(square).forest
    path = spans.closure(square[:3])
    assert path.forest and path.rank == 3 and path.pairs == set(square[:3])
    # One cycle anywhere opens every component: the piece 9 at 2 and 3, the piece 5 at 3.
    both = spans.closure([*square, (9, 2), (9, 3), (5, 3)])
    assert both.rank == 7 and (5, 2) in both.pairs and (5, 0) not in both.pairs


def test_closure_rank_is_that_of_generic_vectors():
    generator = torch.Generator().manual_seed(0)
    words, places, bias = (torch.randn(9, 40, generator=generator).double() for _ in range(3))
    for _ in range(20):
        edges = {tuple(torch.randint(6, (2,), generator=generator).tolist()) for _ in range(8)}
        scale = torch.rand(len(edges), generator=generator).double() + 0.5
        pairs = zip(sorted(edges), scale, strict=True)
        rows = torch.stack([words[w] + places[p] + s * bias[0] for (w, p), s in pairs])
        assert torch.linalg.matrix_rank(rows) == spans.closure(edges).rank


def test_key_weights_do_not_span(victim):
    case = cases.make_case(victim, TEXTS[:1], LABELS[:1])
    key = case.shared.gradient["encoder.encoder.layer.0.attention.self.key.weight"]
    own = torch.linalg.matrix_rank(key, rtol=1e-9)
    assert own < len(case.sentences[0])
    bias = case.shared.gradient["encoder.encoder.layer.0.attention.self.key.bias"]
    others = case.shared.gradient["encoder.encoder.layer.0.attention.self.value.bias"]
    assert bias.norm() < 1e-9 * others.norm()  # the sum of the delta_t


def test_noise_makes_the_span_full(victim):
    case, generator = cases.make_case(victim, TEXTS[:1], LABELS[:1]), torch.Generator().manual_seed(0)
    noisy = {
        name: one + 1e-3 * one.norm() * torch.randn(one.shape, generator=generator).double()
        for name, one in case.shared.gradient.items()
    }
    found = spans.span(spans.stacked(cases.Shared(victim, noisy, case.shared.labels, case.shared.lengths)))
    assert found.rank == 384


def test_sentences_are_put_together_by_the_second_layer(default_data):
    deep = victims.load_victim(layers=3, seed=0)
    case = cases.make_case(deep, TEXTS[:3], LABELS[:3])
    answers, residuals = spans.assemble(case.shared, spans.accepted(case.shared))
    assert sorted(answers) == sorted(case.sentences) and max(residuals) < 1e-4


@pytest.fixture(scope="module")
def decoder():
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3}
    config = LlamaConfig(**sizes, num_attention_heads=4, num_key_value_heads=4, initializer_range=0.2)
    return LlamaForCausalLM(config).double().eval()


def test_a_decoder_gives_whole_sentences_in_order(decoder):
    sentences = [[1, 17, 42, 42, 99], [1, 200, 17, 5], [1, 7, 8]]
    found = decoders.grow(decoder, decoders.language_gradient(decoder, sentences, end=2), start=1)
    assert sorted(found.sentences) == sorted(sentences)
    assert set(found.pieces) == {piece for row in sentences for piece in row}


def test_in_a_decoder_the_first_query_gradient_is_zero(decoder):
    gradient = decoders.language_gradient(decoder, [[1, 17, 42]], end=2)
    ranks = [int(torch.linalg.matrix_rank(gradient[f"0 {name}"], rtol=1e-9)) for name in ("q", "v")]
    assert ranks == [2, 3]  # the first piece attends to itself alone
