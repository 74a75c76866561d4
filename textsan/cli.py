"""The `textsan` command: a thin shell over the package, one function a sub-command.

Errors a user can mend (`ValueError`, `KeyError`, `FileNotFoundError`) become one line on standard error
and exit status 2; anything else is a bug and keeps its traceback.
"""

import sys

import click


class _OneLineErrors(click.Group):
    def invoke(self, context):
        try:
            return super().invoke(context)
        except (ValueError, KeyError, FileNotFoundError) as error:
            message = error.args[0] if isinstance(error, KeyError) and error.args else error
            click.echo(f"textsan: {message}", err=True)
            sys.exit(2)


@click.group(cls=_OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="textsan")
def main():
    """How much does differentially private text sanitization really hide?"""


if __name__ == "__main__":
    main()
