"""Read the forms that web pages and curl send: fields, and files among them."""

from collections.abc import AsyncGenerator
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser
from starlette.requests import Request

from cosykit.errors import InputError, UnsupportedMediaError, quoted
from cosykit.server.operations import bounded_body, field_error

Form = TypeVar("Form", bound=BaseModel)

FORM_TYPES = ("multipart/form-data", "application/x-www-form-urlencoded")

# No form of ours has half as many.
_MOST_FIELDS = 16


async def read_form(request: Request, model: type[Form], limit_mb: int) -> Form:
    """Read, bound and validate a form; files are fields of bytes.

    No body at all is an empty form.

    Raises:
        UnsupportedMediaError: It is not declared as a form.
        TooLargeError: It is longer than the limit.
        InputError: It is no form, or a field of it is wrong.
    """
    body = bounded_body(request, limit_mb)
    try:
        form = await _parsed(request, body, limit_mb << 20)
    except (MultiPartException, FormParserError) as error:
        raise InputError(
            f"the body is not a form: {getattr(error, 'message', error)}",
            hint="Let a library for HTTP write it",
        ) from error
    try:
        fields = {
            name: await value.read() if isinstance(value, UploadFile) else value
            for name, value in form.items()
        }
    finally:
        await form.close()
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise field_error(error) from error


async def _parsed(
    request: Request, body: AsyncGenerator[bytes], limit_bytes: int
) -> FormData:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    multipart, urlencoded = FORM_TYPES
    if kind == multipart:
        parser = MultiPartParser(
            request.headers,
            body,
            max_files=_MOST_FIELDS,
            max_fields=_MOST_FIELDS,
            max_part_size=limit_bytes,
        )
        # In memory: the body is bounded, and a disk could be full.
        parser.spool_max_size = limit_bytes
        return await parser.parse()
    if kind == urlencoded:
        return await FormParser(
            request.headers, body, max_fields=_MOST_FIELDS, max_part_size=limit_bytes
        ).parse()
    if kind or [part async for part in body if part]:
        raise UnsupportedMediaError(
            f"the body has the content type {quoted(kind)}"
            if kind
            else "no content type",
            hint=f"Send a form: {' or '.join(FORM_TYPES)}",
        )
    return FormData()
