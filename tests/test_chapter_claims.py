"""Claims of the chapters that are written anew, against what their notebooks show."""

import re
from pathlib import Path

import nbformat
import pandas as pd

from textsan_book.chapters import chapters
from textsan_book.judging import any_releases, learning, linked, one_scale, repeats, stored

ROOT = Path(__file__).parents[1]
ESTIMATE = re.compile(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]")


def shown(number):
    notebook = nbformat.read(chapters.find(ROOT, number).notebook, as_version=4)
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    return "\n".join(str(out.get("text") or out.get("data", {}).get("text/plain", "")) for out in outputs)


def row(number, start):
    """The estimates of the one line that begins so: value, low, high of each."""
    (line,) = {line for line in shown(number).splitlines() if line.startswith(start) and ESTIMATE.search(line)}
    return [tuple(map(float, found)) for found in ESTIMATE.findall(line)]


def test_custext_gives_away_four_times_what_it_leaves_and_santext_hardly_more():
    unchanged, recovered = row("1", "CusText, ε = 1  ")
    assert recovered[1] > 4 * unchanged[0]
    unchanged, recovered = row("1", "SanText, ε = 4  ")
    assert recovered[0] - unchanged[0] < 0.01


def test_santext_plus_hides_sensitive_words_from_one_attacker_only():
    (few, few_not, _), (many, many_not, _) = row("3", "0.05"), row("3", "0.90")
    assert few[1] < many[0] < few[2] and many_not[2] < few_not[0]


def test_a_list_of_the_text_gives_words_away_and_a_public_one_is_not_shown_to():
    assert row("5", "of the text at hand")[2][1] > 0.05
    assert row("5", "public ")[2][1] < 0 < row("5", "public ")[2][2]


def test_the_sentence_nearly_doubles_the_success_and_few_sentences_teach_little_of_it():
    (line,) = (line for line in shown("6").splitlines() if line.startswith("ε = 2: one word"))
    alone, sentence = float(re.search(r"word (\d.\d+)", line)[1]), float(ESTIMATE.search(line)[1])
    assert 1.8 < sentence / alone < 2
    optimum, counts, true, bigrams = (row("6", name)[0] for name in REGRETS)
    assert counts[0] - true[0] < 0.05 and bigrams[0] > 0.2 and optimum[0] > 0.5


REGRETS = "(success", "word counts, 200", "true word", "bigrams, 200"


def test_the_public_table_adds_everywhere_and_beats_counts_without_a_text():
    lines = shown("6").splitlines()
    for start in ("the table adds", "without own text"):
        (line,) = (line for line in lines if line.startswith(start))
        assert "20 of 20 cells" in line and float(ESTIMATE.search(line)[2]) > 0


def test_both_together_recover_most_on_all_five_corpora():
    for corpus in ("film", "product", "news (nyt)", "tweets", "news (AG)"):
        counts, own, alone, both = row("6", corpus)
        assert both[0] > max(counts[0], own[0], alone[0]) and alone[0] > counts[0]


def test_beside_the_public_table_the_language_model_adds_in_all_six_cells_and_the_reader_in_one():
    for part, above in (("+ language model, ", 6), ("+ reader, ", 1)):
        lines = [line for line in shown("7").splitlines() if line.startswith(part)]
        low = [float(found[2]) for line in lines for found in ESTIMATE.finditer(line)]
        assert len(low) == 6 and sum(one > 0 for one in low) == above
    (unread,) = re.findall(r"^this book: ε = 1 .*$", shown("7"), re.MULTILINE)
    assert all(float(found[2]) > 0 for found in ESTIMATE.finditer(unread)) and len(ESTIMATE.findall(unread)) == 2


def test_secrecy_of_the_noise_costs_the_attacker_next_to_nothing_unless_her_counts_are_wrong():
    lines = [line for line in shown("8").splitlines() if " documents, " in line and "a loss in" in line]
    own, public = lines[:5], lines[5:]
    losses = [[int(re.search(r"a loss in (\d+) of 12", line)[1]) for line in some] for some in (own, public)]
    assert losses == [[2, 0, 0, 0, 0], [4, 3, 3, 3, 3]]
    assert max(float(re.search(r"at most (\d\.\d+)", line)[1]) for line in own) < 0.04
    assert "mechanism identified in 12, its ε in 9" in own[-1]
    table = pd.read_csv(ROOT / "data" / "results" / "untold-noise-public.csv")
    for _, cases in table.groupby(["dataset", "defence", "documents"]):
        misled = cases.defence.iloc[0] == "1-diffractor"
        documents = cases.documents.iloc[0]
        assert documents == 1 or (stored.mean(cases, "difference").high < 0) == misled
        assert not misled or documents < 100 or cases.mechanism.max() < 0.05


def test_no_order_of_mechanisms_is_put_in_question_by_the_public_table():
    lines = [line for line in shown("S5").splitlines() if "orders are in question; against" in line]
    assert [line.partition(": ")[2].partition(" orders")[0] for line in lines] == ["0 of 20", "0 of 29", "0 of 36"]


def test_published_labels_gain_a_third_of_density_ratios_under_custext_plus_and_lose_words_under_santext():
    gains = {
        name: [tuple(map(float, found)) for found in ESTIMATE.findall(line_of("6", f"{name}; "))]
        for name in ("CusText+", "SanText")
    }
    for steps, ratio in zip(gains["CusText+"][::2], gains["CusText+"][1::2], strict=True):
        assert 0.28 < steps[0] / ratio[0] < 0.36 and steps[1] > 0
    assert [high < 0 for _, _, high in gains["SanText"][::2]] == [True, True, False]
    assert all(low > 0 for _, low, _ in gains["SanText"][1::2])


def test_detectors_that_learnt_nothing_of_context_do_not_pass():
    lines = shown("6").splitlines()
    passed = {
        line.split("  ")[0] for line in lines if line.rstrip().endswith("passed") and "not passed" not in line
    }
    assert passed == {"context alone"}


def test_an_attack_that_reads_passes_the_limit_of_the_channel_and_betting_errs_rarely():
    recovered = [row("14", f"ε = {epsilon}: ")[0] for epsilon in (1, 4, 8)]
    assert all(low > 0.3 for _, low, _ in recovered)  # the limit, at every epsilon
    assert row("14", "measured rate")[0][1] > 0.4 and row("14", "betting")[0][2] <= 0.05
    above = {
        name: int(n) for name, n in re.findall(r"^(channel|source) +\d+ +\d+ +(\d+) ", shown("14"), re.MULTILINE)
    }
    assert above["channel"] > 0 == above["source"]
    held = pd.read_csv(ROOT / "data" / "results" / "promises.csv", comment="#")
    asked = held[(held.target == 0.4) & (held.later == "same") & (held.column == "guarantee")]
    groups = asked[asked.defence.isin(["custext", "custext+"])]
    assert len(groups) == 8 and groups.dataset.nunique() == 4 and (groups.low > groups.target).all()


def test_masks_keep_the_task_and_identify_every_document_and_what_hides_more_keeps_less():
    audited = any_releases.releases(ROOT / "data" / "results")
    assert len(audited) == 19 and all(release["identified"] for release in audited)
    assert all(release["found"].low > release["length"] for release in audited)
    for corpus in any_releases.CORPORA.values():
        releases = {release["release"]: release for release in audited if release["corpus"] == corpus}
        for name in ("masks", "surrogates"):
            release = releases[name]
            assert release["verbatim"].low > 0.88 and release["found"].value == 1 and release["lost"].low < 0
            assert release["kept"].value > releases["CusText+, ε = 1"]["kept"].value
        left, _, identified, _ = row("14", f"{corpus}, masks: ")
        assert 0.905 < left[0] < 0.945 and identified[0] == 1
        sanitized = [release for name, release in releases.items() if "ε" in name]
        for release in sanitized:
            assert release["found"].high < releases["masks"]["found"].low
            assert release["lost"].low > 0
    reviews = {release["release"]: release for release in audited if release["corpus"] == "film reviews"}
    kept, largest, original = (reviews["CusText+, ε = 1"][name] for name in ("kept", "largest", "original"))
    assert original.value - kept.value > (original.value - largest) / 2


def test_the_rewrite_of_the_small_model_hides_little_and_is_not_shown_to_keep_the_task():
    (rewrite,) = (
        release for release in any_releases.releases(ROOT / "data" / "results") if release["release"] == "rewrite"
    )
    assert rewrite["found"].value > 0.5 and rewrite["identified"] and rewrite["kept"].low <= rewrite["largest"]
    assert max(share.value for share in rewrite["answers"].values()) < 0.5  # it may be called a rewrite
    assert 0.22 < rewrite["answers"]["loops"].value < 0.28 and 0.3 < rewrite["answers"]["strangers"].value < 0.38


def line_of(number, start):
    (found,) = {line for line in shown(number).splitlines() if line.startswith(start)}
    return found


def test_a_vector_discloses_dates_and_a_middle_layer_and_a_causal_model_disclose_more():
    assert 0.155 < row("15", "MiniLM                200,000")[3][0] < 0.165
    middle, last = row("15", "MiniLM, layer 2"), row("15", "MiniLM, last layer")
    assert all(one[0] > other[0] for one, other in zip(middle, last, strict=True))
    causal, small = row("15", "SmolLM2, last piece"), row("15", "MiniLM                  4,000")
    assert all(one[1] > other[2] for one, other in zip(causal, small, strict=True))
    year, month, day, whole = row("15", "MiniLM                200,000")
    assert year[1] < 0.661 < year[2] and month[2] < 0.616 and day[2] < 0.539 and whole[2] < 0.219


def test_words_are_read_and_what_is_around_them_too():
    for word in ("pain", "skin", "anxiety", "acne", "stomach"):
        (whole, *_), (rest, low, _) = ESTIMATE.findall(line_of("15", f"{word}: "))
        assert float(whole) > 0.97 and 0.685 < float(rest) < 0.865 and float(low) > 0.5
    assert line_of("15", "adaptation").endswith("28 comparisons, 0 gains, 10 losses")


def test_defences_that_keep_the_task_stop_no_attack_and_an_erased_word_is_hidden_alone():
    assert line_of("15", "26 defences") == "26 defences, 5 keep the task; of these stopped: 0"
    before, after = ESTIMATE.findall(line_of("15", "comedy, erased, 3000"))
    assert float(after[2]) < float(before[1]) and float(after[1]) > 0.5
    before, after = ESTIMATE.findall(line_of("15", "love, not erased, 3000"))
    assert float(before[1]) < float(after[0]) < float(before[2])
    change = ESTIMATE.findall(line_of("15", "change of the sentiment"))[0]
    assert float(change[1]) < 0 < float(change[2])


def test_every_piece_is_found_and_short_batches_are_put_together_word_for_word():
    rows = [re.findall(r"[\d,]+", one) for one in shown("16").splitlines() if re.match(r" +[1248]  +\d+ ", one)]
    rows = [[int(cell.replace(",", "")) for cell in cells] for cells in rows]
    assert [row[0] for row in rows] == [1, 2, 4, 8] and sum(row[1] for row in rows) == 60
    assert all(row[2] == row[3] <= row[5] <= row[4] for row in rows)  # true, found, predicted, passing
    assert [row[6:8] for row in rows] == [[30, 30], [30, 30], [29, 36], [14, 48]]
    found = re.search(r", (\d+) true pieces: (\d+) pass; (\d+) are", line_of("16", "dropout 0.1"))
    total, passing, nearest = map(int, found.groups())
    assert passing == 0 and 0.4 < nearest / total < 0.65


def test_a_scaled_start_helps_tag_on_one_model_and_harms_it_on_another():
    for name, sign in (("TAG, small model", 1), ("TAG, MiniLM", -1)):
        released, scaled = (tuple(map(float, one)) for one in ESTIMATE.findall(line_of("16", name)))
        assert sign * (scaled[0] - released[0]) > 0 and max(released[1], scaled[1]) > min(released[2], scaled[2])
    start, distance, difference = (
        tuple(map(float, one)) for one in ESTIMATE.findall(line_of("16", "small model,"))
    )
    assert start[1] > 0 and distance[1] > 0 and difference[1] < 0 < difference[2]


def test_feature_match_is_undecided_and_could_not_have_shown_the_published_margin():
    lines = shown("16").splitlines()
    gains = [one for one in lines if re.match(r"(MiniLM|small), \d a batch", one)]
    assert len(gains) == 5
    for one in gains:
        low, high = map(float, ESTIMATE.search(one).groups()[1:])
        assert low < 0 < high
    margins = {size: float(line_of("16", f"published margin, {name}").split(": ")[1]) for size, name in MARGINS}
    for at, one in enumerate(lines):
        if one in gains and (size := int(re.search(r"(\d) a batch", one)[1])) in margins:
            assert float(lines[at + 1].split()[-1]) > margins[size]
    verdicts = {key: ESTIMATE.search(line_of("16", f"whole attack, {key}")).groups() for key in WHOLE}
    assert float(verdicts["1 a batch, true features"][1]) > 0 > float(verdicts["2 a batch, tensor"][2])
    others = [verdicts[key] for key in WHOLE[2:]]
    assert all(float(low) <= 0 <= float(high) for _, low, high in others)


MARGINS = (1, "CoLA"), (2, "Rotten")
WHOLE = ("1 a batch, true features", "2 a batch, tensor", "1 a batch, tensor", "2 a batch, fit:")
WHOLE += ("2 a batch, fit, oracle order", "2 a batch, true features")


def test_strong_noise_hides_two_thirds_from_a_first_guess_at_little_cost_and_a_promise_ends_learning():
    known = {
        key: [tuple(map(float, one)) for one in ESTIMATE.findall(line_of("16", key + ":"))]
        for key in ("none 0", "noise 1", "pruning 0.9", "DP-SGD 0.5")
    }
    (_, bare), promised = known["none 0"], known["DP-SGD 0.5"]
    for read, accuracy in (known["noise 1"], known["pruning 0.9"]):
        assert 0.25 < read[0] < 0.33 and accuracy[2] > bare[1] and bare[0] - accuracy[0] < 0.03
    majority = float(re.search(r"label (\d.\d+);", line_of("16", "more frequent"))[1])
    assert promised[0][0] == 0 and promised[1][0] < majority


def test_a_language_model_reads_half_of_one_sentence_and_little_of_eight():
    rows = [one.split() for one in shown("16").splitlines() if re.match(r"(none|noise|pruning) +[148] ", one)]
    assert len(rows) == 9
    for cells in rows:
        numbers = [float(one) for one in cells[3:] if not one.startswith("[") and not one.endswith("]")]
        first, model, blind = numbers
        if cells[0] != "none":
            assert model > first and (cells[1] != "1" or 0.45 < model < 0.55)
            assert cells[1] != "4" or 0.17 < model < 0.25 and 0.08 < blind < 0.12
        elif cells[1] == "8":
            assert max(first, model) < 1 / 3


def test_what_is_counted_decides_about_custext_plus():
    found = {}
    for start in ("words that all protect, ", "all words, "):
        for rule in ("draw", "keep"):
            (found[start, rule],) = row("10", f"{start}{rule}: CusText+ minus CusText")
    assert all(low > 0 for (start, _), (_, low, _) in found.items() if start.startswith("words"))
    assert all(high < 0 for (start, _), (_, _, high) in found.items() if start.startswith("all"))


def wins_of(pair):
    return [tuple(map(int, one)) for one in re.findall(r"(\d) : (\d)", line_of("10", pair + "  "))]


def test_custext_plus_never_wins_where_all_words_count_and_about_half_is_undecided():
    for pair, side in (("SanText+ : CusText+", 1), ("SanText : CusText+", 1), ("CusText+ : CusText", 0)):
        counts = wins_of(pair)
        assert [one[side] for one in counts[2:]] == [0, 0] and all(one[1 - side] > 0 for one in counts[2:])
    assert [one[1] for one in wins_of("CusText+ : CusText")[:2]] == [0, 0]
    plus, plain = zip(*wins_of("SanText+ : SanText")[:2], strict=True)
    assert min(plus) > 2 and max(plain) == 1
    undecided = [int(one) for one in line_of("10", "undecided, of 30").split()[3:]]
    assert all(13 < one < 20 for one in undecided)


def test_no_setting_below_half_keeps_half_and_releasing_unlisted_words_pays_where_all_others_are_replaced():
    text = shown("10")
    drawn, kept = (tuple(map(float, one)) for one in re.findall(r"keeps (\S+) \[(\S+), (\S+)\]\n", text)[:2])
    assert (round(drawn[0], 2), round(kept[0], 2)) == (0.32, 0.43)
    paid = {name: line_of("10", name + "  ") for name in ("SanText+", "SanText", "CusText+", "CusText")}
    paid = {name: int(line.split()[-3]) for name, line in paid.items()}
    assert paid["SanText+"] == paid["CusText+"] == 0 and min(paid["SanText"], paid["CusText"]) >= 3


def test_one_verdict_of_the_fine_tuned_encoder_needs_no_interpolation():
    lines = shown("10").splitlines()
    at = lines.index("SanText+ at ε = 3 minus CusText+ at ε = 3")
    frozen, tuned = (tuple(map(float, ESTIMATE.search(one).groups())) for one in lines[at + 1 : at + 3])
    assert frozen[1] < 0 < frozen[2] and tuned[1] > 0
    settings = {name: line_of("10", f"{name}, ε = 3 ") for name in ("SanText+", "CusText+")}
    (v, e), (other_v, other_e) = ([float(one) for one in line.split()[4:6]] for line in settings.values())
    assert v < other_v and e < other_e


def test_nearly_every_document_is_found_under_custext_plus_and_few_by_length_alone():
    (excess,) = row("11", "CusText+, ε = 1  ")
    assert excess[1] > 0.95
    (excess,) = row("11", "SanText, ε = 1  ")
    assert excess[1] > 0 and excess[2] < 0.5
    shares = dict(re.findall(r"^(.*): .* ([\d.]+) of 1,000$", shown("11"), re.MULTILINE))
    assert float(shares["length alone"]) < 0.1 < float(shares["SanText, ε = 1"]) < 0.25
    assert float(shares["SanText, ε = 2"]) > 0.6 and float(shares["CusText+, ε = 1"]) > 0.99
    assert float(re.search(r"CusText\+, ε = 1, length and kept words: ([\d.]+)", shown("11"))[1]) > 0.95
    weaker = ("summary 0.5", "quotation 0.5", "open set, calibrated", "two releases", "length and kept words")
    assert all(row("11", f"   {name}")[0][1] < 0 < row("11", f"   {name}")[0][2] < 0.15 for name in weaker)


def test_the_theorem_is_the_enumeration_and_a_group_is_an_address():
    listed, formula = re.search(r"([\d.]+) enumerated, ([\d.]+) by the theorem", shown("11")).groups()
    assert listed == formula
    named = dict(
        re.findall(r"^(\d+) words: word guessed 0.001, document named ([\d.]+)$", shown("11"), re.MULTILINE)
    )
    assert float(named["5"]) < 0.05 and float(named["20"]) > 0.99
    words, tenth = re.search(r"^ +(20) +[\d.]+ +([\d.]+) +[\d.]+$", shown("11"), re.MULTILINE).groups()
    assert words == "20" and 0.42 <= float(tenth) < 0.43


def test_a_memoized_file_loses_more_under_custext_plus_and_less_than_fresh_noise_whose_repeats_are_known():
    counted, *fresh = (float(one) for one in re.findall(r"replacements?.*: ([\d.]+)$", shown("11"), re.MULTILINE))
    assert [one < counted for one in fresh] == [True, True, True, False]
    table = repeats.cases()
    for (dataset, who, scope), some in table[table.occurrences == "all"].groupby(["dataset", "who", "scope"]):
        said = repeats.verdict(some)
        if scope == "file":
            assert said.compared == ("undecided" if who.startswith("SanText") else "more")
            assert said.guards == (who.startswith("SanText") or dataset == "yelp")
        rate = some.groupby("attack").asr.mean()
        assert rate[repeats.ONCE] < rate[repeats.TOLD] + 0.01
    shown_rows = re.findall(r"^(?:film phrases|long reviews) .*", shown("11"), re.MULTILINE)
    assert len(shown_rows) == 6
    for line in shown_rows:
        fresh, document, file, gain, _, _, told = map(float, re.findall(r"-?\d\.\d{3}", line))
        assert document < file < told and abs(file - fresh - gain) < 0.0015
        assert "SanText" in line or 0.064 < gain < 0.083


def test_releases_of_a_document_add_up_under_santext_and_texts_of_a_writer_under_custext_plus():
    exact = dict(re.findall(r"^(SanText, 20|CusText, 2) words:\n((?:  .*\n){4})", shown("11"), re.MULTILINE))
    ends = {name: [tuple(map(float, one)) for one in ESTIMATE.findall(rates)] for name, rates in exact.items()}
    first, *_, last = ends["SanText, 20"]
    assert last[1] > 4 * first[2]  # the interval of eight releases is far above that of one
    first, *_, last = ends["CusText, 2"]
    assert last[1] < first[2]  # of one and of eight they overlap
    table = stored.released("several-releases.csv")
    for (threat, who), rows in table.groupby(["threat", "who"]):
        found, shares = linked.sources(rows), linked.shares(rows)
        assert (
            any(found.shown.values())
            == all(found.shown.values())
            == ((threat, who[:7]) != ("one writer", "SanText"))
        )
        assert (found.added.low > 0) == (
            (threat, who[:7]) in {("one writer", "CusText"), ("same document", "SanText")}
        )
        assert rows.control.mean() < 0.05 and rows.baseline.mean() < 0.05
        if threat == "one writer" and who.startswith("CusText"):
            editorials, reports = (
                rows[(rows.dataset == of) & (rows.releases == 8)].main.mean() for of in ("nyt", "mtsamples")
            )
            assert 0.45 < shares[8].value < 0.55 and 1.8 < editorials / reports < 2.2
    rows = table[(table.threat == "same document") & (table.defence == "santext")]
    assert [k for k, most in linked.sources(rows).most.items() if most] == [8]


def test_about_equal_success_on_words_goes_with_other_lengths():
    found = {
        name: (float(word), float(low), float(high))
        for name, word, low, high in re.findall(
            r"^(.*): one word ([\d.]+); 10 words linked [\d.]+ \[([\d.]+), ([\d.]+)\]$", shown("11"), re.MULTILINE
        )
    }
    santext, custext = found["SanText, ε = 3"], found["CusText, ε = 0"]
    assert abs(santext[0] - custext[0]) < 0.05 and santext[2] < custext[1]
    five = dict(re.findall(r"^(.*): 5 words ([\d.]+), 20 words", shown("11"), re.MULTILINE))
    assert float(five["CusText, ε = 0"]) > 0.99 and float(five["SanText, ε = 3"]) < 0.75


def test_every_release_says_something_of_its_writer_and_its_length_nothing():
    for name in ("SanText, ε = 3  ", "SanText, ε = 6", "CusText, ε = 1", "CusText+, ε = 1", "words that CusText+"):
        assert row("12", name)[0][1] > 0
    assert row("12", "length alone")[0][1] < 0 < row("12", "length alone")[0][2] < 0.05
    assert row("12", "SanText, ε = 3  ")[1][1] < 0 < row("12", "SanText, ε = 3.5")[1][1]


def test_santext_gives_four_in_ten_conditions_away():
    main, excess = row("12", "symptoms  SanText, ε = 3.5")
    assert 0.385 <= main[0] <= 0.4 and excess[1] > 0.25
    assert row("12", "symptoms  CusText, ε = 1")[0][1] > 0.2


def test_documents_differ_more_under_custext_at_one_mean():
    found = {
        name: tuple(map(float, numbers))
        for name, *numbers in re.findall(
            r"^(.*): median ([\d.]+), nine in ten from ([\d.]+) to ([\d.]+)$", shown("12"), re.MULTILINE
        )
    }
    (middle, low, high), (other, inner_low, inner_high) = found["CusText"], found["SanText, equal on words"]
    assert abs(middle - other) < 0.05 and high - low > 2 * (inner_high - inner_low)


def test_the_best_channel_loses_least_and_the_sentence_opens_it_most():
    (santext, custext) = (
        [
            float(one)
            for one in re.search(rf"^{name}: ([\d.]+) to ([\d.]+) times", shown("13"), re.MULTILINE).groups()
        ]
        for name in ("SanText", "CusText")
    )
    assert min(santext[0], custext[0]) > 1.5 and max(santext[1], custext[1]) < 2.05
    opened = {
        name: row("13", f"{name}  ") for name in ("SanText", "SanText, weighted", "erasure", "the best channel")
    }
    gains = {name: sentence[0] - word[0] for name, (word, sentence) in opened.items()}
    assert opened["the best channel"][1][1] > max(
        o[1][2] for name, o in opened.items() if name != "the best channel"
    )
    assert max(gains, key=gains.get) == "the best channel"
    corpora = [row("13", f"{name}, the sentence") for name in ("rt", "amazon", "nyt")]
    assert all(least[1] > santext[2] for santext, least in corpora)
    more = re.findall(r": ([-\d.]+) \[([-\d.]+), ([-\d.]+)\] more; CusText", shown("13"))
    assert len(more) == 5 and all(float(low) > 0 for _, low, _ in more)
    losses = one_scale.scale(ROOT / "data" / "results", 0.45)
    assert (losses.loc["optimal custext"] < losses.loc["custext"]).all() and "custext+" not in losses.index


def test_accuracy_at_the_papers_size_falls_with_the_noise_and_one_printed_loss_is_inside():
    inside = {}
    for start, low, high in (("CusText+, ε = 3", 0.145, 0.155), ("SanText+, ε = 3", 0.155, 0.165)):
        *_, loss = row("9", f"{start}  ")
        assert low < loss[0] < high
    for name in ("CusText+", "SanText+", "SanText"):
        line = line_of("9", f"{name}, ε = 3    ")
        *_, (_, low, high) = ESTIMATE.findall(line)
        inside[name] = float(low) < float(line.split()[-1]) < float(high)
    assert inside == {"CusText+": True, "SanText+": False, "SanText": False}
    frozen, tuned, loss = row("9", "SanText, ε = 3  ")
    assert loss[0] > 1.9 * row("9", "CusText+, ε = 3  ")[2][0] and tuned[0] - frozen[0] < 0.02
    for start in ("original  ", "CusText+, ε = 16  ", "CusText+, ε = 3  ", "SanText+, ε = 3  "):
        frozen, tuned, *_ = row("9", start)
        assert 0.07 < tuned[0] - frozen[0] < 0.1
    assert (
        row("9", "CusText+, ε = 3 − SanText+, ε = 3: ")[0][1]
        < 0
        < row("9", "CusText+, ε = 3 − SanText, ε = 3: ")[0][1]
    )


def test_the_rule_for_unlisted_words_is_half_of_a_lead_or_more():
    for difference in ("CusText − SanText", "CusText − FBDD", "CusText+ − SanText+"):
        draw, alone, keep, rule = row("9", f"{difference}  ")
        assert 0.075 < alone[0] < 0.105 and alone[1] > 0 and rule[1] > 0
        assert max(draw[0], keep[0]) < 0.55 * alone[0]
        assert float(line_of("9", f"{difference}: the rule").split()[-4]) > 0.485
    assert row("9", "CusText − SanText  ")[0][1] > 0 > row("9", "CusText+ − SanText+  ")[2][2]
    blind = [float(one) for one in re.findall(r"(?:V|blind) ([\d.]+)", line_of("9", "SanText at ε / d_max"))]
    assert blind[0] == blind[1]
    for epsilon in (1, 3):
        line = line_of("9", f"CusText+, ε = {epsilon}, loss")
        printed, (drawn, kept) = float(re.search(r"printed ([\d.]+)", line)[1]), ESTIMATE.findall(line)
        assert float(drawn[1]) > printed and float(kept[1]) < printed < float(kept[2])
    changes = {name: row("9", f"60,000 phrases, {name}:")[0] for name in PAPERS_SIZE}
    assert [low > 0 for _, low, _ in changes.values()] == [True, True, False, False]
    assert row("9", "CusText+, ε = 3, task's list")[0][1] < 0 < row("9", "CusText+, ε = 3, task's list")[0][2]


PAPERS_SIZE = "CusText+, ε = 16", "CusText+, ε = 3", "SanText+, ε = 3", "SanText, ε = 3"


def test_a_long_document_shows_its_label_and_of_a_word_no_more_than_the_label():
    found = re.findall(r"^(\d+) words: label ([\d.]+), one word ([\d.]+)$", shown("9"), re.MULTILINE)
    labels, words = ([float(one[at]) for one in found] for at in (1, 2))
    assert labels == sorted(labels) and labels[-1] > 0.98 and max(words) < labels[0] == 0.65
    same, both = (float(one) for one in re.findall(r"of the label ([\d.]+)", shown("9")))
    assert same == 1 and 1 - both > (1 - 0.5) / 2


def test_preparing_is_not_shown_to_help_a_learner_and_one_attacker_of_two_corpora_gains():
    learner, mask = row("9", "ε = 5: learner")
    assert learner[1] < 0 < 0.02 < learner[2] and mask[1] < 0 < mask[2]
    learner, mask = row("9", "ε = 4: learner")
    assert learner[2] < 0 and mask[2] < 0
    gains = learning.readers()
    on = {
        (g["corpus"], g["mechanism"]): [
            h["gain"] for h in gains if h["corpus"] == g["corpus"] and h["mechanism"] == g["mechanism"]
        ]
        for g in gains
    }
    shown_gain = {cell for cell, found in on.items() if any(one.low > 0 for one in found)}
    assert shown_gain == {("film reviews", "CusText+")} and all(
        one.low > 0 for one in on["film reviews", "CusText+"]
    )
    best, channel = (
        [float(one) for one in re.findall(r"([\d.]+)", line_of("9", f"own space, {name}:"))]
        for name in ("best guess", "noisy channel")
    )
    low, high = ([float(end) for end in found] for found in ESTIMATE.findall(line_of("9", "own space, mask")))
    assert best[1] > 15 * best[0] and min(best[1], channel[1]) > 3 * high[2] > 3 * high[1] > 3 * low[2]


def test_no_step_of_the_expected_order_is_reversed_and_most_are_undecided_where_words_are_drawn():
    lines = shown("S7").splitlines()
    counts = {
        line.split(": {")[0].strip(): dict(re.findall(r"'([a-z ]+)': (\d+)", line))
        for line in lines
        if re.match(r"( +(sst2|stsb|qnli)|draw|keep|task's list|draw, .*): \{", line)
    }
    assert not any("the other way" in found for found in counts.values())
    assert int(counts["draw"]["undecided"]) > int(counts["draw"]["as expected"])
    assert counts["draw, original"] == {"as expected": "18"}
    assert counts["draw, SanText ≥ FBDD"] == counts["draw, FBDD ≥ Random"] == {"undecided": "9"}
    sst2 = [line for line in lines if line.startswith("   sst2")]
    assert sst2[1] == "   sst2: {'as expected': 9}"


def test_fitted_vectors_lead_where_words_are_kept_and_pay_for_it():
    rows = [
        re.split(r" {2,}", line) for line in shown("S7").splitlines() if re.match(r"[1238]  -?\d.\d+ \[", line)
    ]
    assert len(rows) == 4
    for epsilon, drawn, kept, printed, fitted, glove in rows:
        (drawn,), (kept,) = ([tuple(map(float, f)) for f in ESTIMATE.findall(cell)] for cell in (drawn, kept))
        assert drawn[1] < 0 < drawn[2]
        assert (kept[1] > 0) == (epsilon != "8") and (kept[1] > float(printed)) == (epsilon in "12")
        assert epsilon == "8" or 0.055 < float(fitted) - float(glove) < 0.065
    better = re.findall(r"better: (\w+)$", shown("S7"), re.MULTILINE)
    assert better.count("fitted") == 2 and better.count("undecided") == 3


def test_mask_inference_sees_the_noise_and_little_of_what_can_be_read_and_accuracy_follows_late():
    rows = [
        (float(cells[0]), float(cells[1]), [tuple(map(float, one)) for one in ESTIMATE.findall(line)], cells[-1])
        for line in shown("S7").splitlines()
        if len(cells := re.split(r" {2,}", line.strip())) == 7 and re.match(r"^\d+$", cells[0])
    ]
    assert len(rows) == 13
    for epsilon, best, (mask, channel, accuracy), chance in rows:
        assert channel[0] >= best - 0.001 and mask[0] < max(0.11, best / 4)
        assert (accuracy[1] > float(chance)) == (epsilon >= 14) and (best > 0.5) == (epsilon >= 14)


def test_keeping_is_ahead_of_the_list_of_the_task_on_pairs():
    rows = [
        ESTIMATE.findall(line) for line in shown("S7").splitlines() if re.match(r"(Cus|San)Text\+? +[13] ", line)
    ]
    assert len(rows) == 16 and all(float(kept[0]) > float(listed[0]) for _, kept, _, listed in rows)


def test_nobody_of_earlier_papers_is_above_word_counts_and_every_reader_who_knows_the_channel_is():
    for name in (
        "counting pairs",
        "released word",
        "nearest other word",
        "Inversion BERT, sequence",
        "mask inference",
    ):
        assert row("8", f"{name}  ")[1][1] < 0.01  # lower limit of the difference to word counts
    readers = ("combined attack", "Markov, public table and own text", "Markov, public table alone")
    readers += ("combined, no causal model", "noisy channel", "Markov, own text")
    for name in readers:
        assert row("8", f"{name}  ")[1][1] > 0
    alone, own = (row("8", f"Markov, {name}  ")[0] for name in ("public table alone", "own text"))
    assert alone[0] > own[0]


def test_the_reader_of_mask_inference_fills_blanks_in_the_clear_and_the_encoder_does_not():
    lines = shown("8").splitlines()
    named = {
        reader: [ESTIMATE.findall(x) for x in lines if x.startswith(reader) and "in the clear" in x]
        for reader in ("public ", "adapter ")
    }
    assert [len(rows) for rows in named.values()] == [6, 4]
    assert all(float(clear[1]) > float(constant[2]) for clear, constant in named["public "])
    assert all(float(clear[0]) < 0.005 for clear, _ in named["adapter "])
    rate, inversion = (row("8", f"{name}  ")[0] for name in ("mask inference", "Inversion BERT, sequence"))
    assert 0.02 < rate[1] and rate[2] < inversion[1]


def test_two_networks_are_not_shown_to_beat_a_table_at_one_epsilon_and_are_at_another():
    lines = [line for line in shown("8").splitlines() if line.startswith("  combined minus public table")]
    large, small = (tuple(map(float, ESTIMATE.search(line).groups())) for line in lines)
    assert large[1] < 0 < large[2] and 0 < small[1] and 0.045 < small[0] < 0.055
    models = [line for line in shown("8").splitlines() if line.startswith("  causal model, in the combined")]
    assert len(models) == 2 and all(float(ESTIMATE.search(line)[2]) > 0 for line in models)


def test_a_detector_gains_as_word_pairs_do_at_one_epsilon_and_is_not_shown_to_at_another():
    detector, pairs = (
        ESTIMATE.findall(line_of("8", f"{name}: ")) for name in ("detector", "word pairs, own text")
    )
    assert (
        float(detector[0][1]) < 0 < float(pairs[0][1]) and abs(float(detector[1][0]) - float(pairs[1][0])) < 0.002
    )
    found = re.search(r"published 39.2 \[([-\d.]+), ([-\d.]+)\], ours ([\d.]+)", line_of("8", "word counts: publ"))
    low, high, ours = map(float, found.groups())
    assert low < 0 and low < ours < high


def test_positions_are_worth_less_than_three_points_and_most_to_the_combined_attack():
    lost = [
        row("8", f"{name}, without positions")[0]
        for name in ("combined attack", "combined, no causal model", "context-free attack")
    ]
    assert min(lost)[0] == lost[0][0] > -0.03 and all(low < 0 and high <= 0 for _, low, high in lost)


def test_closed_eyes_call_a_clear_text_defended():
    found = re.search(r"alone: ([\d.]+), defence rate ([\d.]+)", line_of("8", "text in the clear"))
    assert 0.3 < float(found[2]) and float(found[1]) + float(found[2]) == 1


def cells(number, start):
    """The estimates of the one line that begins so, by what stands before each of them."""
    found = re.findall(r"([^;]+?) (-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]", line_of(number, start).split(": ", 1)[1])
    return {name.strip("; "): tuple(map(float, values)) for name, *values in found}


def test_a_language_model_adds_to_all_that_an_attacker_has_at_every_epsilon():
    rows = [row("7", f"{who}{epsilon} ") for who in ("given      ", "not given  ") for epsilon in (1, 2, 4, 8)]
    assert all(0.09 < gain[0] < 0.135 and gain[1] > 0.06 for *_, gain, _ in rows)
    counts, *_, in_all = row("7", "not given  4 ")
    assert 0.5 < counts[0] / in_all[0] < 0.55
    lost = cells("7", "language model: ε")
    assert len(lost) == 4 and all(0 < low and value < 0.04 for value, low, _ in lost.values())
    for name in ("word counts", "bigrams", "reader"):
        assert all(value < lost[at][0] for at, (value, *_) in cells("7", f"{name}: ε").items())


def test_a_model_that_is_only_asked_recovers_less_than_the_release_shows():
    released, asked, shown = (row("7", name)[0] for name in ("the word as", "asked for", "asked, four"))
    assert max(asked[2], shown[2]) < released[1]
    candidates, channel, counts = (
        row("7", name)[0] for name in ("given the cand", "given cand", "word counts and")
    )
    assert min(candidates[1], channel[1]) > counts[2]
    assert ESTIMATE.search(line_of("7", "mask inference"))[1] == "0.016"


def test_a_model_without_text_is_above_a_public_list_everywhere_and_counts_on_half():
    names = ("film reviews  ", "product reviews  ", "news (nyt)  ", "tweets  ", "this book  ", "symptoms  ")
    rows = {name: row("7", name) for name in names}
    assert all(found[1][1] > 0.1 for found in rows.values())
    assert [found[2][1] > 0 for found in rows.values()] == [True] * 3 + [False] * 3
    ruled = [re.findall(r"above|undecided|below", line_of("7", name)) for name in names]
    assert ruled == [["above", "above"]] * 3 + [["above", "undecided"]] * 3
    for name in ("this book", "symptoms"):
        assert line_of("7", f"{name}, minus combined").endswith("below")
    marked = line_of("7", "if marks count as words")
    assert (marked.count(" above;"), marked.count(" below;")) == (2, 3)


def test_a_larger_model_is_above_the_smaller_on_news_only_and_above_text_without_a_model():
    gains = {name: cells("7", f"minus the smaller model, {name}") for name in ("news (nyt)", "film reviews")}
    assert [all(low > 0 for _, low, _ in some.values()) for some in gains.values()] == [True, False]
    for name in gains:
        found = cells("7", f"minus combined, no language model, {name}")
        assert len(found) == 2 and all(low > 0.05 and 0.115 < value < 0.225 for value, low, _ in found.values())


def test_words_exchanged_make_a_model_harm_and_dice_do_not():
    for start, sign in (("as written", 1), ("with other words", -1), ("and of the same", -1), ("made by dice", 1)):
        assert all(sign * (low if sign > 0 else high) > 0 for _, low, high in cells("7", start).values())
    assert cells("7", "made by dice")["film reviews"][0] > cells("7", "as written")["film reviews"][0]


def test_where_every_word_is_noise_a_language_model_adds_a_point_at_most():
    gains = cells("7", "the language model adds")
    assert [low > 0 for _, low, _ in gains.values()] == [False, False, True]
    assert all(value < 0.01 and high < 0.02 for value, _, high in gains.values())
    assert all(low < 0 for _, low, _ in cells("7", "combined minus counts").values())


def test_counts_of_the_fitting_text_are_trusted_too_much():
    bug, right = (
        [float(found) for found in re.findall(r"[\d.]+", line_of("7", start))]
        for start in ("fitted on counted", "fitted on other")
    )
    assert (
        bug[0] > 2 * right[0] and bug[1] < right[1] and bug[2] > bug[1] + 0.1 and abs(right[2] - right[1]) < 0.03
    )


def test_a_language_model_adds_on_the_papers_data_and_stands_in_for_text():
    for name in ("QNLI     ", "AG News  ", "SST-2    "):
        assert all(row("S8", f"{name}{epsilon} ")[-1][1] > 0 for epsilon in (1, 4))
    ten, many = row("S8", "       10  "), row("S8", "     8000  ")
    assert ten[-1][1] > many[0][2]
    assert row("S8", "told the words before")[1][1] > 0 > row("S8", "language model, beam 8")[1][2]
