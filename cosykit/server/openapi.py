"""The OpenAPI document, written from the models that validate."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from cosykit import __version__
from cosykit.server.operations import Operation

JsonObject = dict[str, object]

_RETRY_AFTER: JsonObject = {
    "Retry-After": {
        "description": "Seconds after which to try again",
        "schema": {"type": "integer"},
    }
}


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is said over a WebSocket of a path; OpenAPI itself knows of none.

    Attributes:
        client: The messages of a client, JSON in text frames.
        server: Those of the server; audio is in binary frames.
    """

    summary: str
    client: Sequence[type[BaseModel]]
    server: Sequence[type[BaseModel]]


def openapi_document(
    operations: Sequence[Operation], conversations: Mapping[str, Conversation]
) -> JsonObject:
    """Describe the routes in OpenAPI 3.1."""
    models = {
        model
        for op in operations
        for model in (op.body, op.answer, op.failure)
        if model is not None
    }
    for conversation in conversations.values():
        models.update(conversation.client, conversation.server)
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
        "x-websockets": {
            path: {
                "summary": conversation.summary,
                "client": [_reference(model) for model in conversation.client],
                "server": [_reference(model) for model in conversation.server],
            }
            for path, conversation in conversations.items()
        },
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe(operation: Operation) -> JsonObject:
    described: JsonObject = {
        "summary": operation.summary,
        "responses": _failures(operation) | _answers(operation),
    }
    if operation.guarded:
        described["security"] = [{"key": []}, {}]
    if operation.body:
        described["requestBody"] = {
            "required": True,
            "content": {
                body_type: {"schema": _reference(operation.body)}
                for body_type in operation.body_types
            },
        }
    if parameters := _parameters(operation):
        described["parameters"] = parameters
    return described


def _parameters(operation: Operation) -> list[JsonObject]:
    in_path: list[JsonObject] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    in_query: list[JsonObject] = [
        {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}
        for name, text in operation.query.items()
    ]
    return in_path + in_query


def _answers(operation: Operation) -> JsonObject:
    # Without a schema: bytes, or lines, that are no JSON.
    content: JsonObject = {media_type: {} for media_type in operation.media_types}
    if operation.answer:
        content |= _json(operation.answer)
    return {
        str(status): {"description": "The answer", "content": content}
        for status in operation.statuses
    }


def _failures(operation: Operation) -> JsonObject:
    """Describe what may go wrong, in the shape of the protocol."""
    meanings = {"default": "Any other failure"}
    if operation.guarded:
        meanings["401"] = "The API key is missing or wrong"
    if operation.guarded and operation.counted:
        meanings["429"] = "The key or the address asks too often: try again later"
    if operation.guarded and (operation.body or operation.answer):
        meanings["503"] = "The model is not available, or too busy: try again later"
    if operation.body or operation.query or "{" in operation.path:
        meanings["404"] = "There is no such voice or model"
    if operation.body:
        wrong_field = str(operation.failure.wrong_field_status)
        meanings[wrong_field] = "A field is missing, unknown or wrong"
        meanings["413"] = "The body is too large"
        meanings["415"] = f"The body is not {' or '.join(operation.body_types)}"
        meanings["504"] = "The speech was not finished in time"
    failures: JsonObject = {}
    for status, meaning in sorted(meanings.items()):
        failure: JsonObject = {
            "description": meaning,
            "content": _json(operation.failure),
        }
        if status in ("429", "503", "504"):
            failure["headers"] = _RETRY_AFTER
        failures[status] = failure
    return failures


def _json(model: type[BaseModel]) -> JsonObject:
    return {"application/json": {"schema": _reference(model)}}


def _reference(model: type[BaseModel]) -> JsonObject:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
