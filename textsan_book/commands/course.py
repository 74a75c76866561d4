"""`textsan course`: build assignments, grade submissions, prove that both are right, rank attacks."""

from pathlib import Path

import click

from textsan.cli.errors import fail

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_masters = click.option("--masters", type=_FOLDER, help="Folder of the masters.  [default: book/course/masters]")


@click.group()
def course():
    """The book as a course: assignments built from masters, graded, and proved right.

    Example: textsan course build ../spring
    """


@course.command()
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.argument("assignments", nargs=-1)
@click.option("--seed", type=click.IntRange(min=0), help="A cohort's own seed, in place of the masters'.")
@_masters
def build(out, assignments, seed, masters):
    """Write student and solution notebooks, otter-grader zips and an nbgrader tree into OUT.

    ASSIGNMENTS are names or numbers; all by default. Only OUT/student is for students.

    Example: textsan course build ../spring 01 --seed 2027
    """
    from tqdm import tqdm

    from textsan_book.course import master as reading, versions

    paths = reading.masters(masters)
    chosen = [reading.find(name, masters) for name in assignments] or [
        reading.read(path, full=True) for path in paths
    ]
    for one in tqdm(chosen, unit="assignment", disable=None):
        versions.build(one if seed is None else one.for_cohort(seed), out)
    click.echo(f"{len(chosen)} assignments; for students: {out / 'student'}")


@course.command()
@click.argument("submissions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--assignment", help="Which one it is, where a notebook does not say so.")
@click.option("--seconds", type=float, default=120, show_default=True, help="Time for each submission.")
@click.option("--seed", type=click.IntRange(min=0), help="The seed that `build` was given, if it was.")
@click.option("--csv", type=click.Path(dir_okay=False, path_type=Path), help="Write a row a submission.")
@_masters
def grade(submissions, assignment, seconds, seed, csv, masters):
    """Grade SUBMISSIONS (notebooks, or folders of them), each in a process of its own.

    That process has a time limit and no network, and writes in its own folder only. A file that is no submission
    costs nobody else a grade; the exit status says that there was one.

    Example: textsan course grade collected/ --csv grades.csv
    """
    from textsan_book.course import grading

    grades, broken = grading.grade_all(
        submissions, folder=masters, name=assignment, seconds=seconds, cohort=seed, say=click.echo
    )
    if csv:
        grading.write_table(grades, broken, csv)
    if broken:
        fail(f"{len(broken)} could not be graded, {len(grades)} were")


@course.command()
@click.argument("assignments", nargs=-1)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Processes.")
@click.option("--full", is_flag=True, help="Corpora of the size that students have.")
@_masters
def verify(assignments, jobs, full, masters):
    """Prove every assignment: solutions pass under all graders, wrong answers and mutants do not, nothing leaks.

    Example: textsan course verify 01
    """
    from tqdm import tqdm

    from textsan_book.course import master as reading, verify as proving

    paths = reading.masters(masters)
    if assignments:
        names = {reading.find(name, masters).name for name in assignments}
        paths = [path for path in paths if path.stem in names]
    faulty = 0
    with tqdm(total=len(paths), unit="assignment", disable=None) as bar:
        for proof in proving.verify(paths, jobs=min(jobs, len(paths)), full=full):
            bar.update()
            bar.write(str(proof))
            faulty += bool(proof.faults)
    if faulty:
        fail(f"{faulty} of {len(paths)} assignments are not proved")


@course.command()
@click.argument("submissions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--corpus", default="world", show_default=True, help="A data set, or the small world that is drawn.")
@click.option("--size", type=click.IntRange(min=20), default=400, show_default=True, help="Sentences attacked.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Which sentences; keep it to yourself.")
@click.option("-o", "--output", default="leaderboard.csv", show_default=True, type=click.Path(path_type=Path))
@click.option("--seconds", type=float, default=120, show_default=True, help="Time for each submission.")
def leaderboard(submissions, corpus, size, seed, output, seconds):
    """Rank the attacks in SUBMISSIONS by how much more they guess than the published one, on the same words.

    Example: textsan course leaderboard collected/ --corpus nyt --seed 4711
    """
    from textsan_book.course import leaderboard as ranking

    rows = ranking.rank(submissions, corpus=corpus, size=size, seed=seed, seconds=seconds)
    ranking.write(rows, output)
    for row in rows:
        click.echo(str(row))
    click.echo(output)
