"""The OpenAPI document, written from the models that validate."""

import re
from collections.abc import Sequence

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from cosykit import __version__
from cosykit.server.operations import Operation

JsonObject = dict[str, object]


def openapi_document(operations: Sequence[Operation]) -> JsonObject:
    """Describe the routes in OpenAPI 3.1."""
    models = {m for op in operations for m in (op.body, op.answer) if m is not None}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered],
        ref_template="#/components/schemas/{model}",
    )
    paths: dict[str, JsonObject] = {}
    for operation in operations:
        entry = paths.setdefault(operation.path, {})
        entry[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "CosyKit", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe(operation: Operation) -> JsonObject:
    described: JsonObject = {
        "summary": operation.summary,
        "responses": {
            "200": {"description": "Done", "content": _content(operation)},
            "default": {"description": "An error, as JSON"},
        },
    }
    if operation.guarded:
        described["security"] = [{"key": []}, {}]
    if operation.body:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _reference(operation.body)}},
        }
    names = re.findall(r"{(\w+)}", operation.path)
    if names:
        described["parameters"] = [
            {"name": n, "in": "path", "required": True, "schema": {"type": "string"}}
            for n in names
        ]
    return described


def _content(operation: Operation) -> JsonObject:
    content: JsonObject = {
        media_type: {"schema": {"type": "string", "format": "binary"}}
        for media_type in operation.media_types
    }
    if operation.answer:
        content["application/json"] = {"schema": _reference(operation.answer)}
    return content


def _reference(model: type[BaseModel]) -> JsonObject:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
