"""Claims of the chapters, against what their notebooks show; decimals are those of tests/test_chapter_style.py."""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from textsan.sweeps.tables import load_tables
from textsan_book.chapters import chapters
from textsan_book.judging import any_releases, claims, learning, linked, one_scale, repeats, stored
from textsan_book.judging.paper_claims import FREE, FREE_BOUND, THOUSANDS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "data" / "results"
ESTIMATE = re.compile(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]")


@cache
def shown(number):
    notebook = nbformat.read(chapters.find(ROOT, number).notebook, as_version=4)
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    return "\n".join(str(out.get("text") or out.get("data", {}).get("text/plain", "")) for out in outputs)


def estimates(line):
    """Value, low, high of each estimate of a line."""
    return [tuple(map(float, found)) for found in ESTIMATE.findall(line)]


def matching(number, pattern):
    return [line for line in shown(number).splitlines() if re.match(pattern, line)]


def line_of(number, start):
    (found,) = set(matching(number, re.escape(start)))
    return found


def row(number, start):
    """The estimates of the one line with estimates that begins so."""
    (line,) = {line for line in matching(number, re.escape(start)) if ESTIMATE.search(line)}
    return estimates(line)


def named(number, pattern):
    """Numbers of the lines that a pattern matches, by its first group."""
    found = re.findall(pattern, shown(number), re.MULTILINE)
    return {name: tuple(map(float, numbers)) for name, *numbers in found}


def cells(number, start):
    """The estimates of the one line that begins so, by what stands before each of them."""
    found = re.findall(r"([^;]+?) (-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]", line_of(number, start).split(": ", 1)[1])
    return {name.strip("; "): tuple(map(float, values)) for name, *values in found}


# Whether estimates of a line are said to be above nought (+), below (-) or neither (0); . where nothing is said.
SIGNS = {
    "5": {"of the text at hand": "..+", "public ": "..0"},
    "6": {"the table adds": "+", "without own text": "+", "CusText+; ": "++++++", "SanText; ": "-+-+.+"},
    "7": {
        "as written": "++",
        "with other words": "--",
        "and of the same": "--",
        "made by dice": "++",
        "the language model adds": "00+",
        "minus the smaller model, news (nyt)": "++",
        "minus combined, no language model, news (nyt)": "++",
        "minus combined, no language model, film reviews": "++",
        "language model: ε": "++++",
    },
    "8": {
        "combined attack  ": ".+",
        "Markov, public table and own text  ": ".+",
        "Markov, public table alone  ": ".+",
        "combined, no causal model  ": ".+",
        "noisy channel  ": ".+",
        "Markov, own text  ": ".+",
    },
    "9": {
        "CusText+, ε = 3 − SanText+, ε = 3: ": "0",
        "CusText+, ε = 3 − SanText, ε = 3: ": "+",
        "CusText − SanText  ": "++.+",
        "CusText − FBDD  ": ".+.+",
        "CusText+ − SanText+  ": ".+-+",
        "60,000 phrases, CusText+, ε = 16:": "+",
        "60,000 phrases, CusText+, ε = 3:": "+",
        "60,000 phrases, SanText+, ε = 3:": "0",
        "60,000 phrases, SanText, ε = 3:": "0",
        "CusText+, ε = 3, task's list": "0",
        "ε = 5: learner": "00",
        "ε = 4: learner": "--",
    },
    "10": {
        "words that all protect, draw: CusText+ minus CusText": "+",
        "words that all protect, keep: CusText+ minus CusText": "+",
        "all words, draw: CusText+ minus CusText": "-",
        "all words, keep: CusText+ minus CusText": "-",
    },
    "11": {
        "SanText, ε = 1  ": "+",
        "   summary 0.5": "0",
        "   quotation 0.5": "0",
        "   open set, calibrated": "0",
        "   two releases": "0",
        "   length and kept words": "0",
    },
    "12": {
        "SanText, ε = 3  ": "+0",
        "SanText, ε = 3.5": ".+",
        "SanText, ε = 6": "+",
        "CusText, ε = 1": "+",
        "CusText+, ε = 1": "+",
        "words that CusText+": "+",
        "length alone": "0",
        "symptoms  SanText, ε = 3.5": ".+",
        "symptoms  CusText, ε = 1": "+",
    },
    "15": {"change of the sentiment": "0"},
    "16": {
        "small model,": "++0",
        "whole attack, 1 a batch, true features": "+",
        "whole attack, 2 a batch, tensor": "-",
        "whole attack, 1 a batch, tensor": "0",
        "whole attack, 2 a batch, fit:": "0",
        "whole attack, 2 a batch, fit, oracle order": "0",
        "whole attack, 2 a batch, true features": "0",
    },
    "S8": {"told the words before": ".+", "language model, beam 8": ".-"},
}


@pytest.mark.parametrize(
    ("number", "start", "said"), [(n, start, said) for n, lines in SIGNS.items() for start, said in lines.items()]
)
def test_gains_that_are_shown_and_gains_that_are_not(number, start, said):
    for (_, low, high), sign in zip(row(number, start), said, strict=False):
        assert sign in (".", "+" if low > 0 else "-" if high < 0 else "0")


def test_chapter_1_custext_gives_away_four_times_what_it_leaves_and_santext_hardly_more():
    unchanged, recovered = row("1", "CusText, ε = 1  ")
    assert recovered[1] > 4 * unchanged[0]
    unchanged, recovered = row("1", "SanText, ε = 4  ")
    assert recovered[0] - unchanged[0] < 0.01


def test_chapter_3_santext_plus_hides_sensitive_words_from_one_attacker_only():
    (few, few_not, _), (many, many_not, _) = row("3", "0.05"), row("3", "0.90")
    assert few[1] < many[0] < few[2] and many_not[2] < few_not[0]


def test_chapter_6_the_sentence_and_the_public_table():
    line = line_of("6", "ε = 2: one word")
    assert 1.8 < estimates(line)[0][0] / float(re.search(r"word (\d.\d+)", line)[1]) < 2
    starts = ("(success", "word counts, 200", "true word", "bigrams, 200")
    optimum, counts, true, bigrams = (row("6", start)[0][0] for start in starts)
    assert counts - true < 0.05 and bigrams > 0.2 and optimum > 0.5
    assert all("20 of 20 cells" in line for line in matching("6", "the table adds|without own text"))
    alone = matching("6", "  without own text it beats counts")
    assert [re.search(r"below 0 in (.*)", line)[1] for line in alone] == ["0 of 4", "3 of 4", "4 of 10"]
    added = matching("6", "  the table adds to own bigrams")
    assert len(added) == 3 and all("below 0 in 0 of" in line for line in added)
    for corpus in ("film", "product", "news (nyt)", "tweets", "news (AG)"):
        counts, own, alone, both = (one[0] for one in row("6", corpus))
        assert both > max(counts, own, alone) and alone > counts
    passed = [line for line in matching("6", ".*passed *$") if "not passed" not in line]
    assert {line.split("  ")[0] for line in passed} == {"context alone"}
    gains = row("6", "CusText+; ")
    assert all(0.28 < steps[0] / ratio[0] < 0.36 for steps, ratio in zip(gains[::2], gains[1::2], strict=True))


def test_chapter_7_what_a_language_model_adds():
    for part, above in (("[+] language model, ", 6), ("[+] reader, ", 1), ("[+] both, ", 6)):
        low = [low for line in matching("7", part) for _, low, _ in estimates(line)]
        assert len(low) == 6 and sum(one > 0 for one in low) == above
    (unread,) = matching("7", "this book: ε = 1 ")
    assert len(estimates(unread)) == 2 and all(low > 0 for _, low, _ in estimates(unread))
    rows = [row("7", f"{who}{epsilon} ") for who in ("given      ", "not given  ") for epsilon in (1, 2, 4, 8)]
    assert all(0.09 < gain[0] < 0.135 and gain[1] > 0.06 for *_, gain, _ in rows)
    lost = cells("7", "language model: ε")
    for name in ("word counts", "bigrams", "reader"):
        assert all(value < lost[at][0] for at, (value, *_) in cells("7", f"{name}: ε").items())
    assert not all(low > 0 for _, low, _ in row("7", "minus the smaller model, film reviews"))
    assert all(value < 0.01 and high < 0.02 for value, _, high in row("7", "the language model adds"))
    assert all(low < 0 for _, low, _ in row("7", "combined minus counts"))
    assert all(low > 0 and 0.02 < value < 0.06 for value, low, _ in row("7", "with punctuation: ε"))


def test_chapter_7_a_model_that_is_asked_and_a_model_without_text():
    released, asked, four = (row("7", name)[0] for name in ("the word as", "asked for", "asked, four"))
    assert max(asked[2], four[2]) < released[1]
    starts = ("given the cand", "given cand", "word counts and")
    candidates, channel, counts = (row("7", start)[0] for start in starts)
    assert min(candidates[1], channel[1]) > counts[2]
    names = ("film reviews  ", "product reviews  ", "news (nyt)  ", "tweets  ", "this book  ", "symptoms  ")
    rows = [row("7", name) for name in names]
    assert all(found[1][1] > 0.1 for found in rows)
    assert [found[2][1] > 0 for found in rows] == [True] * 3 + [False] * 3
    bug, right = (
        [float(number) for number in re.findall(r"[\d.]+", line_of("7", start))]
        for start in ("fitted on counted", "fitted on other")
    )
    assert bug[0] > 2 * right[0] and right[1] > bug[1] < bug[2] - 0.1 and abs(right[2] - right[1]) < 0.03


def test_chapter_8_secrecy_of_the_noise_costs_next_to_nothing_unless_counts_are_wrong():
    lines = matching("8", ".* documents, .*a loss in")
    losses = [int(re.search(r"a loss in (\d+) of 12", line)[1]) for line in lines]
    assert losses == [2, 0, 0, 0, 0, 4, 3, 3, 3, 3]
    assert max(float(re.search(r"at most (\d\.\d+)", line)[1]) for line in lines[:5]) < 0.04
    assert "mechanism identified in 12, its ε in 9" in lines[4]


def test_chapter_8_who_is_above_word_counts():
    papers = (
        "counting pairs",
        "released word",
        "nearest other word",
        "Inversion BERT, sequence",
        "mask inference",
    )
    assert all(row("8", f"{name}  ")[1][1] < 0.01 for name in papers)
    alone, own = (row("8", f"Markov, {name}  ")[0] for name in ("public table alone", "own text"))
    assert alone[0] > own[0]
    public, adapter = (
        [estimates(x) for x in matching("8", f"{who} .*in the clear")] for who in ("public", "adapter")
    )
    assert (len(public), len(adapter)) == (6, 4)
    assert all(clear[1] > constant[2] for clear, constant in public)
    assert all(clear[0] < 0.005 for clear, _ in adapter)
    rate, inversion = (row("8", f"{name}  ")[0] for name in ("mask inference", "Inversion BERT, sequence"))
    assert 0.02 < rate[1] and rate[2] < inversion[1]
    (large,), (small,) = (estimates(line) for line in matching("8", "  combined minus public table"))
    assert large[1] < 0 < min(large[2], small[1])
    assert [line[0][1] > 0 for line in map(estimates, matching("8", "  causal model, in the comb"))] == [True] * 2
    detector, pairs = (estimates(line_of("8", f"{name}: ")) for name in ("detector", "word pairs, own text"))
    assert detector[0][1] < 0 < pairs[0][1] and abs(detector[1][0] - pairs[1][0]) < 0.002
    pattern = r"published 39.2 \[([-\d.]+), ([-\d.]+)\], ours ([\d.]+)"
    low, high, ours = map(float, re.search(pattern, line_of("8", "word counts: publ")).groups())
    assert low < min(0, ours) and ours < high
    readers = ("combined attack", "combined, no causal model", "context-free attack")
    lost = [row("8", f"{name}, without positions")[0] for name in readers]
    assert min(lost)[0] == lost[0][0] > -0.03 and all(low < 0 and high <= 0 for _, low, high in lost)


def test_chapter_9_accuracy_at_the_papers_size():
    inside = {}
    for name in ("CusText+", "SanText+", "SanText"):
        line = line_of("9", f"{name}, ε = 3    ")
        *_, (_, low, high) = estimates(line)
        inside[name] = low < float(line.split()[-1]) < high
    assert inside == {"CusText+": True, "SanText+": False, "SanText": False}
    frozen, tuned, loss = row("9", "SanText, ε = 3  ")
    assert loss[0] > 1.9 * row("9", "CusText+, ε = 3  ")[2][0] and tuned[0] - frozen[0] < 0.02


def test_chapter_9_the_rule_for_unlisted_words_is_half_of_a_lead_or_more():
    for difference in ("CusText − SanText", "CusText − FBDD", "CusText+ − SanText+"):
        draw, alone, keep, rule = row("9", f"{difference}  ")
        assert max(draw[0], keep[0]) < 0.55 * alone[0]
    blind = re.findall(r"(?:V|blind) ([\d.]+)", line_of("9", "SanText at ε / d_max"))
    assert blind[0] == blind[1]
    for epsilon in (1, 3):
        line = line_of("9", f"CusText+, ε = {epsilon}, loss")
        printed, (drawn, kept) = float(re.search(r"printed ([\d.]+)", line)[1]), estimates(line)
        assert drawn[1] > printed and kept[1] < printed < kept[2]


def test_chapter_9_a_label_and_an_attacker_who_prepares():
    found = named("9", r"^(\d+) words: label ([\d.]+), one word ([\d.]+)$").values()
    labels, words = zip(*found, strict=True)
    assert [*labels] == sorted(labels) and labels[-1] > 0.98 and max(words) < labels[0] == 0.65
    same, both = (float(one) for one in re.findall(r"of the label ([\d.]+)", shown("9")))
    assert same == 1 and 1 - both > (1 - 0.5) / 2
    above = {}
    for one in learning.readers():
        above.setdefault((one["corpus"], one["mechanism"]), set()).add(one["gain"].low > 0)
    assert {cell for cell, signs in above.items() if True in signs} == {("film reviews", "CusText+")}
    assert above["film reviews", "CusText+"] == {True}
    best, channel = (
        re.findall(r"[\d.]+", line_of("9", f"own space, {name}:")) for name in ("best guess", "noisy channel")
    )
    low, high = estimates(line_of("9", "own space, mask"))
    best, channel = (list(map(float, one)) for one in (best, channel))
    assert best[1] > 15 * best[0] and min(best[1], channel[1]) > 3 * high[2] > 3 * high[1] > 3 * low[2]


def wins_of(pair):
    return [tuple(map(int, one)) for one in re.findall(r"(\d) : (\d)", line_of("10", pair + "  "))]


def test_chapter_10_custext_plus_never_wins_where_all_words_count_and_about_half_is_undecided():
    for pair, side in (("SanText+ : CusText+", 1), ("SanText : CusText+", 1), ("CusText+ : CusText", 0)):
        counts = wins_of(pair)
        assert [one[side] for one in counts[2:]] == [0, 0] and all(one[1 - side] > 0 for one in counts[2:])
    assert [one[1] for one in wins_of("CusText+ : CusText")[:2]] == [0, 0]
    plus, plain = zip(*wins_of("SanText+ : SanText")[:2], strict=True)
    assert min(plus) > 2 and max(plain) == 1
    assert all(13 < int(one) < 20 for one in line_of("10", "undecided, of 30").split()[3:])


def test_chapter_10_no_setting_below_half_keeps_half_and_one_verdict_needs_no_interpolation():
    assert all(float(one) < 0.5 for one in re.findall(r"keeps (\S+) \[\S+, \S+\]\n", shown("10"))[:2])
    names = ("SanText+", "SanText", "CusText+", "CusText")
    paid = {name: int(line_of("10", name + "  ").split()[-3]) for name in names}
    assert paid["SanText+"] == paid["CusText+"] == 0 and min(paid["SanText"], paid["CusText"]) >= 3
    lines = shown("10").splitlines()
    at = lines.index("SanText+ at ε = 3 minus CusText+ at ε = 3")
    (frozen,), (tuned,) = (estimates(one) for one in lines[at + 1 : at + 3])
    assert frozen[1] < 0 < min(frozen[2], tuned[1])
    (v, e), (other_v, other_e) = (
        map(float, line_of("10", f"{name}, ε = 3 ").split()[4:6]) for name in ("SanText+", "CusText+")
    )
    assert v < other_v and e < other_e


def test_chapter_11_nearly_every_document_is_found_under_custext_plus_and_few_by_length_alone():
    ((_, low, _),), ((_, _, high),) = row("11", "CusText+, ε = 1  "), row("11", "SanText, ε = 1  ")
    assert low > 0.95 and high < 0.5
    shares = {name: share for name, (share,) in named("11", r"^(.*): .* ([\d.]+) of 1,000$").items()}
    assert shares["length alone"] < 0.1 < shares["SanText, ε = 1"] < 0.25
    assert shares["SanText, ε = 2"] > 0.6 and shares["CusText+, ε = 1"] > 0.99
    assert float(re.search(r"CusText\+, ε = 1, length and kept words: ([\d.]+)", shown("11"))[1]) > 0.95
    listed, formula = re.search(r"([\d.]+) enumerated, ([\d.]+) by the theorem", shown("11")).groups()
    assert listed == formula
    groups = named("11", r"^(\d+) words: word guessed 0.001, document named ([\d.]+)$")
    assert groups["5"][0] < 0.05 and groups["20"][0] > 0.99
    found = named("11", r"^(.*): one word ([\d.]+); 10 words linked [\d.]+ \[([\d.]+), ([\d.]+)\]$")
    santext, custext = found["SanText, ε = 3"], found["CusText, ε = 0"]
    assert abs(santext[0] - custext[0]) < 0.05 and santext[2] < custext[1]
    five = named("11", r"^(.*): 5 words ([\d.]+), 20 words")
    assert five["CusText, ε = 0"][0] > 0.99 and five["SanText, ε = 3"][0] < 0.75


def test_chapter_11_repeats_of_a_file_and_several_releases():
    table = repeats.cases()
    for (dataset, who, scope), some in table[table.occurrences == "all"].groupby(["dataset", "who", "scope"]):
        said = repeats.verdict(some)
        if scope == "file":
            assert said.compared == ("undecided" if who.startswith("SanText") else "more")
            assert said.guards == (who.startswith("SanText") or dataset == "yelp")
        rate = some.groupby("attack").asr.mean()
        assert rate[repeats.ONCE] < rate[repeats.TOLD] + 0.01
    exact = dict(re.findall(r"^(SanText, 20|CusText, 2) words:\n((?:  .*\n){4})", shown("11"), re.MULTILINE))
    first, *_, last = estimates(exact["SanText, 20"])
    assert last[1] > 4 * first[2]  # the interval of eight releases is far above that of one
    first, *_, last = estimates(exact["CusText, 2"])
    assert last[1] < first[2]  # of one and of eight they overlap
    for (threat, who), rows in stored.released("several-releases.csv").groupby(["threat", "who"]):
        found, case = linked.sources(rows), (threat, who[:7])
        assert {*found.shown.values()} == {case != ("one writer", "SanText")}
        added = {("one writer", "CusText"), ("same document", "SanText")}
        assert (found.added.low > 0) == (case in added)
        assert rows.control.mean() < 0.05 and rows.baseline.mean() < 0.05


def test_chapter_12_documents_differ_more_under_custext_at_one_mean():
    found = named("12", r"^(.*): median ([\d.]+), nine in ten from ([\d.]+) to ([\d.]+)$")
    (middle, low, high), (other, inner_low, inner_high) = found["CusText"], found["SanText, equal on words"]
    assert abs(middle - other) < 0.05 and high - low > 2 * (inner_high - inner_low)


def test_chapter_13_the_best_channel_loses_least_and_the_sentence_opens_it_most():
    times = named("13", r"^(SanText|CusText): ([\d.]+) to ([\d.]+) times")
    assert all(1.5 < low < high < 2.05 for low, high in times.values())
    names = ("SanText", "SanText, weighted", "erasure", "the best channel")
    opened = {name: row("13", f"{name}  ") for name in names}
    gains = {name: sentence[0] - word[0] for name, (word, sentence) in opened.items()}
    (_, (_, best, _)) = opened.pop("the best channel")
    assert best > max(high for _, (_, _, high) in opened.values())
    assert max(gains, key=gains.get) == "the best channel"
    for name in ("rt", "amazon", "nyt"):
        (_, _, santext), (_, least, _) = row("13", f"{name}, the sentence")
        assert least > santext
    more = re.findall(r": ([-\d.]+) \[([-\d.]+), ([-\d.]+)\] more; CusText", shown("13"))
    assert len(more) == 5 and all(float(low) > 0 for _, low, _ in more)
    losses = one_scale.scale(RESULTS, 0.45)
    assert (losses.loc["optimal custext"] < losses.loc["custext"]).all() and "custext+" not in losses.index


def test_chapter_14_an_attack_that_reads_passes_the_limit_and_betting_errs_rarely():
    assert all(row("14", f"ε = {epsilon}: ")[0][1] > 0.3 for epsilon in (1, 4, 8))  # the limit, at every epsilon
    assert row("14", "measured rate")[0][1] > 0.4 and row("14", "betting")[0][2] <= 0.05
    above = named("14", r"^(channel|source) +\d+ +\d+ +(\d+) ")
    assert above["channel"][0] > 0 == above["source"][0]


def test_chapter_14_masks_keep_the_task_and_identify_every_document_and_what_hides_more_keeps_less():
    audited = any_releases.releases(RESULTS)
    assert len(audited) == 19 and all(release["identified"] for release in audited)
    assert all(release["found"].low > release["length"] for release in audited)
    for corpus in any_releases.CORPORA.values():
        releases = {release["release"]: release for release in audited if release["corpus"] == corpus}
        for name in ("masks", "surrogates"):
            release = releases[name]
            assert release["verbatim"].low > 0.88 and release["found"].value == 1 and release["lost"].low < 0
            assert release["kept"].value > releases["CusText+, ε = 1"]["kept"].value
        for release in (one for name, one in releases.items() if "ε" in name):
            assert release["found"].high < releases["masks"]["found"].low and release["lost"].low > 0
    (rewrite,) = (release for release in audited if release["release"] == "rewrite")
    assert rewrite["found"].value > 0.5 and rewrite["kept"].low <= rewrite["largest"]
    assert max(share.value for share in rewrite["answers"].values()) < 0.5  # it may be called a rewrite


def test_chapter_15_what_a_vector_discloses():
    middle, last = row("15", "MiniLM, layer 2"), row("15", "MiniLM, last layer")
    assert all(one[0] > other[0] for one, other in zip(middle, last, strict=True))
    causal, small = row("15", "SmolLM2, last piece"), row("15", "MiniLM                  4,000")
    assert all(one[1] > other[2] for one, other in zip(causal, small, strict=True))
    for word in ("pain", "skin", "anxiety", "acne", "stomach"):
        (whole, *_), (_, low, _) = estimates(line_of("15", f"{word}: "))
        assert whole > 0.97 and low > 0.5
    before, after = row("15", "comedy, erased, 3000")
    assert after[2] < before[1] and after[1] > 0.5
    before, after = row("15", "love, not erased, 3000")
    assert before[1] < after[0] < before[2]


def test_chapter_16_what_a_gradient_gives_away():
    rows = [re.findall(r"[\d,]+", line) for line in matching("16", r" +[1248]  +\d+ ")]
    rows = [[int(cell.replace(",", "")) for cell in cells] for cells in rows]
    assert [row[0] for row in rows] == [1, 2, 4, 8] and sum(row[1] for row in rows) == 60
    assert all(row[2] == row[3] <= row[5] <= row[4] for row in rows)  # true, found, predicted, passing
    assert [row[6:8] for row in rows] == [[30, 30], [30, 30], [29, 36], [14, 48]]
    found = re.search(r", (\d+) true pieces: (\d+) pass; (\d+) are", line_of("16", "dropout 0.1"))
    total, passing, nearest = map(int, found.groups())
    assert passing == 0 and 0.4 < nearest / total < 0.65
    for name, sign in (("TAG, small model", 1), ("TAG, MiniLM", -1)):
        released, scaled = estimates(line_of("16", name))
        assert sign * (scaled[0] - released[0]) > 0 and max(released[1], scaled[1]) > min(released[2], scaled[2])
    lines = shown("16").splitlines()
    gains = [at for at, line in enumerate(lines) if re.match(r"(MiniLM|small), \d a batch", line)]
    assert len(gains) == 5 and all(estimates(lines[at])[0][1] < 0 < estimates(lines[at])[0][2] for at in gains)
    for size, name in ((1, "CoLA"), (2, "Rotten")):  # what could have been shown is above what was published
        margin = float(line_of("16", f"published margin, {name}").split(": ")[1])
        asked = [float(lines[at + 1].split()[-1]) for at in gains if f"{size} a batch" in lines[at]]
        assert asked and min(asked) > margin


def test_chapter_16_strong_noise_costs_little_and_a_promise_ends_learning():
    keys = ("none 0", "noise 1", "pruning 0.9", "DP-SGD 0.5")
    (_, bare), noisy, pruned, promised = (estimates(line_of("16", key + ":")) for key in keys)
    for read, accuracy in (noisy, pruned):
        assert 0.25 < read[0] < 0.33 and accuracy[2] > bare[1] and bare[0] - accuracy[0] < 0.03
    majority = float(re.search(r"label (\d.\d+);", line_of("16", "more frequent"))[1])
    assert promised[0][0] == 0 and promised[1][0] < majority
    for line in matching("16", r"(noise|pruning) +[148] "):
        first, model, _ = (float(one) for one in line.split()[3:] if "[" not in one and "]" not in one)
        assert model > first


def test_supplement_7_orders_of_mechanisms_and_fitted_vectors():
    assert "the other way" not in shown("S7")
    rows = [re.split(r" {2,}", line) for line in matching("S7", r"[1238]  -?\d.\d+ \[")]
    assert len(rows) == 4
    for epsilon, drawn, kept, printed, *_ in rows:
        (drawn,), (kept,) = estimates(drawn), estimates(kept)
        assert drawn[1] < 0 < drawn[2]
        assert (kept[1] > 0) == (epsilon != "8") and (kept[1] > float(printed)) == (epsilon in "12")
    rows = [re.split(r" {2,}", line.strip()) for line in matching("S7", r" *\d+  ")]
    rows = [cells for cells in rows if len(cells) == 7]
    assert len(rows) == 13
    for epsilon, best, *middle, chance in rows:
        mask, channel, accuracy = estimates("  ".join(middle))
        assert channel[0] >= float(best) - 0.001 and mask[0] < max(0.11, float(best) / 4)
        assert (accuracy[1] > float(chance)) == (float(best) > 0.5) == (float(epsilon) >= 14)
    rows = [estimates(line) for line in matching("S7", r"(Cus|San)Text\+? +[13] ")]
    assert len(rows) == 16 and all(kept[0] > listed[0] for _, kept, _, listed in rows)


def test_supplement_8_a_language_model_adds_on_the_papers_data_and_stands_in_for_text():
    for name in ("QNLI     ", "AG News  ", "SST-2    "):
        assert all(row("S8", f"{name}{epsilon} ")[-1][1] > 0 for epsilon in (1, 4))
    ten, many = row("S8", "       10  "), row("S8", "     8000  ")
    assert ten[-1][1] > many[0][2]


def test_what_holds_up_the_first_attack_and_its_bound_by_mechanism():
    """Under SanText+ every gap is shown to be within the claimed 0.03, under CusText+ some to be beyond it."""
    rows = load_tables(RESULTS, THOUSANDS)
    cells, gaps = claims.pairs(rows, FREE_BOUND, FREE)[0], {}
    for cell in cells:
        gaps.setdefault("santext" if "santext" in cell.name else "custext", []).append(cell.difference)
    assert len(gaps["santext"]) > 30 and all(gap.high < 0.03 for gap in gaps["santext"])
    assert any(gap.low > 0.03 for gap in gaps["custext"])
