"""`textsan course`: build assignments for otter-grader, prove that they are right, collect texts."""

from pathlib import Path

import click

from textsan.cli.errors import fail

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OUT = click.Path(file_okay=False, path_type=Path)
_masters = click.option("--masters", type=_FOLDER, help="Folder of the masters.  [default: book/course/masters]")


@click.group()
def course():
    """The book as a course: assignments for otter-grader, built from masters and proved right.

    Example: textsan course build ../spring
    """


@course.command()
@click.argument("out", type=_OUT)
@click.argument("assignments", nargs=-1)
@click.option("--seed", type=click.IntRange(min=0), help="A cohort's own seed, in place of the masters'.")
@_masters
def build(out, assignments, seed, masters):
    """Write otter-grader's student and autograder zips, and solution notebooks, into OUT.

    ASSIGNMENTS are names or numbers; all by default. Only OUT/student is for students.

    Example: textsan course build ../spring 01 --seed 2027
    """
    from tqdm import tqdm

    from textsan_book.course import master as reading, versions

    paths = reading.assignments(masters)
    chosen = [reading.find(name, masters) for name in assignments] or [
        reading.read(path, full=True) for path in paths
    ]
    for assignment in tqdm(chosen, unit="assignment", disable=None):
        versions.build(assignment if seed is None else assignment.for_cohort(seed), out)
    click.echo(f"{len(chosen)} assignments; for students: {out / 'student'}")


@course.command()
@click.argument("assignments", nargs=-1)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Processes.")
@click.option("--drawn", is_flag=True, help="A third of them, which the commit draws.")
@click.option("--full", is_flag=True, help="Corpora of students' size; mutants and zips of chapters.")
@_masters
def verify(assignments, jobs, drawn, full, masters):
    """Prove every assignment: its solution passes, wrong answers and mutants do not, nothing leaks.

    A chapter's notebook passes as it stands, and fails every check once it is emptied.

    Answers run in processes with a time limit, and otter-grader grades the solution and the student version.

    Example: textsan course verify 01
    """
    from tqdm import tqdm

    from textsan_book.chapters import build as drawing
    from textsan_book.course import master as reading, verify as proving

    paths = reading.assignments(masters)
    if drawn and (commit := drawing.commit(paths[0].parent)):
        taken = drawing.drawn([path.stem for path in paths], commit, -(-len(paths) // 3))
        paths = [path for path in paths if path.stem in taken]
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
@click.argument("submissions", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o", "--output", default="texts", show_default=True, type=click.Path(file_okay=False, path_type=Path)
)
def texts(submissions, output):
    """Write what SUBMISSIONS (notebooks, or folders of them) say to questions that a person grades.

    Each gets a Markdown file in the output folder. The exit status says whether one could not be read.

    Example: textsan course texts collected/ -o texts
    """
    from textsan_book.course import texts as reading

    broken = reading.collect(submissions, output)
    for line in broken:
        click.echo(line, err=True)
    click.echo(output)
    if broken:
        fail(f"{len(broken)} could not be read")
