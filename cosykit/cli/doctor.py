"""`cosykit doctor`: what this machine has, what is wrong and what to do about it."""

from dataclasses import asdict

import typer

from cosykit.cli.called import as_called
from cosykit.cli.context import Json, Model, ModelsDir, load_configuration
from cosykit.cli.output import print_json, print_table

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(
    context: typer.Context,
    model: Model = None,
    models_dir: ModelsDir = None,
    json: Json = False,
) -> None:
    """Look over the machine, the runtime and the models; name what is wrong.

    Ends with code 1 when there is a problem; warnings are none.
    """
    from cosykit.ops.doctor import examine

    loaded = load_configuration(context, {"model": model, "models_dir": models_dir})
    findings = examine(loaded.settings)
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table(
            ("subject", "state", "finding"),
            [
                (
                    finding.subject,
                    finding.state,
                    "\n".join(filter(None, (finding.text, as_called(finding.remedy)))),
                )
                for finding in findings
            ],
            styles={"state": _STYLES},
        )
    if any(finding.state == "problem" for finding in findings):
        raise typer.Exit(1)
