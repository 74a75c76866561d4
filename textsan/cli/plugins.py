"""Commands that know plugins: `--plugin`, repeatable."""

import click

_HELP = "Mechanisms and attacks of your own: a Python file, or a module that can be imported. May be repeated."


class PluginCommand(click.Command):
    """A command with `--plugin`; what it names is imported before the other options are made and read."""

    def get_params(self, context):
        *own, help_ = super().get_params(context)
        return [*own, _option(), help_]

    def parse_args(self, context, args):
        from textsan.base.plugins import load_plugin

        lenient = {"ignore_unknown_options": True, "allow_extra_args": True}
        first = click.Command(None, params=[_option(True)], add_help_option=False, context_settings=lenient)
        asked = first.make_context(context.info_name, list(args), context.parent, resilient_parsing=True)
        for name in asked.params["plugins"]:
            load_plugin(name)
        return super().parse_args(context, args)


def _option(expose: bool = False) -> click.Option:
    return click.Option(
        ["--plugin", "plugins"], multiple=True, metavar="FILE.py|MODULE", expose_value=expose, help=_HELP
    )
