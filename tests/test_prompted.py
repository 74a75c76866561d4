"""Prompted reconstruction: what the prompt shows, how answers are set beside the sentence, a planted case."""

import pytest

from textsan import Channel
from textsan.attacks import Knowledge, Prompted
from textsan.attacks.prompted import aligned

WORDS = ["the", "film", "dog", "was", "good", "bad"]


@pytest.mark.parametrize(
    "released, answer, words",
    [
        (["a", "b", "c"], ["a", "x", "c"], ["a", "x", "c"]),
        (["a", "b", "c"], [], ["a", "b", "c"]),
        (["a", "b", "c"], ["x", "y", "z", "w"], ["x", "y", "z"]),
        (["a", "b", "c"], ["c"], ["a", "b", "c"]),
        ([], ["x"], []),
        (["a", "b", "c", "d"], ["b", "x", "d"], ["a", "b", "x", "d"]),
    ],
)
def test_a_word_for_every_place_whatever_the_answer(released, answer, words):
    assert aligned(released, answer) == words


class _Scripted:
    """A model that answers every prompt with one line, and goes on writing."""

    def __init__(self, line):
        self.line, self.prompts = line, []
        self.tokenizer = self
        self.model = self
        self.eos_token_id, self.device = 0, "cpu"

    def __call__(self, text, **options):
        if text.startswith("Some"):
            self.prompts.append(text)
        return type("Ids", (), {"input_ids": [ord(letter) for letter in text]})

    def generate(self, ids, max_new_tokens, **options):
        import torch

        written = torch.tensor([[ord(letter) for letter in f" {self.line}\nReplaced: more"]] * len(ids))
        return torch.cat([ids, written], dim=1)

    def batch_decode(self, ids, **options):
        return ["".join(map(chr, row)) for row in ids.tolist()]


def test_the_answer_is_its_first_line_and_examples_are_the_attackers():
    channel = Channel.from_matrix([[0.9, 0.1], [0.1, 0.9]], inputs=["good", "bad"], outputs=["good", "bad"])
    shadow = [["the", "film", "was", "good", "."], ["bad"], ["the", "dog", "was", "bad", "."]]
    model = _Scripted("the dog was bad")
    attack = Prompted.against(Knowledge(channel, shadow=shadow, resources={"language model": model}), examples=1)
    released = [["the", "film", "was", "good"], ["was", "good"]]
    assert attack.reconstruct(released, [(0, 3), (0, 1), (1, 1)]) == ["bad", "dog", "bad"]
    longest = max(model.prompts, key=len)
    assert longest.count("Original:") == 2 and longest.endswith("Replaced: the film was good\nOriginal:")
    assert "Original: the film was good ." in longest  # of usual length; its sanitized words are the attacker's


def test_an_example_is_shown_as_released_and_then_as_it_was():
    model = _Scripted("one")
    Prompted(model, [(["seen"], ["meant"])]).reconstruct([["a"]], [(0, 0)])
    assert "Replaced: seen\nOriginal: meant\n" in model.prompts[0]


def test_a_model_that_is_shown_copies_copies(default_data):
    """The planted case: examples change nothing, so the answer should be the sentence."""
    from textsan.priors import LanguageModel

    pairs = [("the film was long and sad .",) * 2, ("he went home with his dog .",) * 2]
    attack = Prompted(LanguageModel.named(), [(y.split(), x.split()) for y, x in pairs])
    sentence = "a good actor and a bad script .".split()
    assert attack._answers([sentence]) == [sentence]
    assert attack.details["pieces"] > len(sentence)


def test_long_and_empty_sentences():
    attack = Prompted(_Scripted("one two"))
    long = ["word"] * 600
    found = attack.reconstruct([long, ["a"]], [(0, 0), (0, 599), (1, 0)])
    assert found == ["one", "word", "one"]
    assert attack.reconstruct([[]], []) == []


def test_no_examples_is_none_and_not_zero():
    channel = Channel.from_matrix([[1.0]], inputs=["a"], outputs=["a"])
    granted = Knowledge(channel, shadow=[["a"] * 6], resources={"language model": _Scripted("a")})
    assert Prompted.against(granted, examples=None).examples == []
    with pytest.raises(ValueError, match="examples: 0"):
        Prompted.against(granted, examples=0)
