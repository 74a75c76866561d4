"""The joined tables of chapter 16, against the stored rows read without the package."""

import statistics

import pytest
from stored import lines as stored, mean

from textsan_book.judging import gradient_tables


def test_pairs_and_sentences_of_the_exact_attack_are_those_of_its_batches():
    seen = {}
    for row in stored("gradients-spans"):
        seen[row["dataset"], row["B"], row["batch"]] = row
    for row in gradient_tables.exact():
        some = [one for (_, size, _), one in seen.items() if int(size) == row["sentences in a batch"]]
        assert row["batches"] == len(some) and row["sentences"] == len(some) * row["sentences in a batch"]
        for name, column in (("true", "pairs"), ("found", "found"), ("pass", "accepted"), ("predicted", "theory")):
            assert row[name] == sum(int(one[column]) for one in some)
        assert row["exact sentences"] == sum(int(float(one["exact_sentences"])) for one in some)


@pytest.mark.parametrize("specials, column", [(True, "rouge2 with specials"), (False, "rouge2")])
def test_searches_have_their_own_mean_and_the_published_one(specials, column):
    rows = {(row["corpus"], row["attack"]): row for row in gradient_tables.search("2", specials=specials)}
    assert len(rows) == 8 and ("Rotten Tomatoes", "LAMP") not in rows
    ours = rows["SST-2", "TAG"]["ours"]
    assert ours.value == pytest.approx(mean(stored("gradients-plain", dataset="sst2", method="TAG"), column))
    assert ours.low < ours.value < ours.high
    lamp = rows["CoLA", "LAMP"]["ours"].value
    assert lamp == pytest.approx(mean(stored("gradients-match-trained", method="LAMP cos"), column))


def test_starts_are_means_of_their_rows_and_gains_are_paired():
    found = gradient_tables.start()
    small = {
        name: mean(stored("gradients-start", share="1.0", method=name), "rouge1")
        for name in ("DLG", "DLG, scaled start", "TAG", "TAG, scaled start")
    }
    assert found["TAG, small model"].value == pytest.approx(small["TAG"])
    six = mean(stored("gradients-start-trained", method="TAG, scaled start"), "rouge1")
    assert found["TAG, MiniLM, scaled start"].value == pytest.approx(six)
    one, two, three, four = small.values()
    assert found["start"].value == pytest.approx((two - one + four - three) / 2)
    assert found["distance"].value == pytest.approx((three - one + four - two) / 2)
    gap = found["start"].value - found["distance"].value
    assert found["start less distance"].value == pytest.approx(gap)
    (row,) = [row for row in gradient_tables.starts() if (row["steps"], row["attack"]) == ("100%", "DLG")]
    assert row["difference"].value == pytest.approx(two - one)


def test_gains_over_lamp_are_differences_of_means_on_the_same_gradients():
    rows = {(row["victim"], row["B"], row["attack"]): row for row in gradient_tables.feature_match()}
    assert len(rows) == 5
    six = [
        mean(stored("gradients-match-trained", method=name), "rouge1") for name in ("feature match", "LAMP cos")
    ]
    assert rows["MiniLM", 1, "feature match"]["difference"].value == pytest.approx(six[0] - six[1])
    whole = {(row["B"], row["attack"]): row for row in gradient_tables.whole_attack()}
    two = [mean(stored("gradient-whole", B="2", method=name), "rouge1") for name in ("tensor", "LAMP cos")]
    assert whole[2, "tensor"]["difference"].value == pytest.approx(two[0] - two[1])
    gaps = {}
    for name, sign in (("tensor", 1), ("LAMP cos", -1)):
        for row in stored("gradient-whole", B="2", method=name):
            gaps[row["batch"]] = gaps.get(row["batch"], 0) + sign * float(row["rouge1"]) / 2
    assert whole[2, "tensor"]["shown"] == pytest.approx(2.8 * statistics.stdev(gaps.values()) / len(gaps) ** 0.5)


def test_defences_are_those_of_the_study_and_three_seeds_are_pooled():
    rows = {(row["defence"], row["setting"]): row for row in gradient_tables.defences()}
    assert len(rows) == len(stored("gradients-defences"))
    (one,) = stored("gradients-defences", defence="pruning", size="0.9")
    assert rows["pruning", 0.9]["accuracy"].value == float(one["accuracy"])
    assert rows["none", 0]["words read"].low < 1 == rows["none", 0]["words read"].high
    papers = {(row["defence"], row["setting"]): row for row in gradient_tables.defences("papers")}
    three = stored("gradients-defences-oov", defence="santext+", size="4.0")
    assert papers["santext+", 4]["words read"].value == pytest.approx(mean(three, "read")) and len(three) == 3
    read, accuracy, costs = gradient_tables.sanitized([*papers.values()])
    assert read == (papers["santext+", 3]["words read"].value, papers["custext+", 8]["words read"].value)
    assert accuracy[0] == papers["santext+", 3]["accuracy"].value and costs == (1, 4)
    assert gradient_tables.majority() == float(one["majority"])
    with pytest.raises(KeyError, match="guess"):
        gradient_tables.defences("guess")


def test_pieces_read_are_pooled_over_batches_and_few_batches_have_no_interval():
    rows = {(row["defence"], row["sentences in a batch"]): row for row in gradient_tables.reading()}
    assert len(rows) == 9
    for (kind, size), row in rows.items():
        setting = {"none": "0.0", "noise": "1.0", "pruning": "0.9"}[kind]
        some = stored("gradients-reading", defence=kind, size=setting, B=str(size))
        share = sum(int(one["beam"]) for one in some) / sum(int(one["pieces"]) for one in some)
        found = row["with a language model"]
        assert (found.value if size < 8 else found) == pytest.approx(share)
        assert row["batches"] == len({(one["seed"], one["batch"]) for one in some})
