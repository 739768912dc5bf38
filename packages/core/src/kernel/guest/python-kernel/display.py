"""Values in the forms that a notebook shows."""

import base64
import builtins
import json
import sys

_longest_text = 1_000_000
_longest_form = 12_000_000
_longest_value = 8_000_000
# Of a value as JSON: each takes time and many times its size on the way.
_most_items = 250_000

_methods = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_pdf_": "application/pdf",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}

_registered = {}


def register(module, name, forms):
    """Gives a type, which need not be imported, a function that makes its forms beside its text."""
    _registered[module, name] = forms


def registered(value):
    """The function that makes the forms of a value, or None."""
    return next((forms for kind in type(value).__mro__ if (forms := _registered.get(_place(kind)))), None)


def _place(kind):
    return kind.__module__, kind.__name__


def bundle(value):
    """Every form of a value by MIME type: text as it is, binary as base64, JSON as a value."""
    forms = registered(value)
    return modest({"text/plain": text(value), **(_own_forms(value) if forms is None else forms(value))})


def _own_forms(value):
    forms = {}
    for name, mime in _methods.items():
        form = _form(value, name)
        if form is not None:
            forms[mime] = form
    whole = _form(value, "_repr_mimebundle_")
    if isinstance(whole, dict):
        forms.update(whole)
    return forms


def modest(forms):
    """The forms as JSON, without those that are none, are too large, or say the same again."""
    forms = {mime: encode(form) for mime, form in forms.items() if form is not None}
    if "image/png" in forms:
        forms.pop("image/jpeg", None)
    return {mime: form for mime, form in forms.items() if size(form) is not None and _fits(mime, form)}


def _form(value, name):
    # Asked of the type: an object that invents any attribute (a mock, a proxy) has no forms.
    method = getattr(type(value), name, None)
    if method is None or isinstance(value, type):
        return None
    try:
        form = method(value)
    except Exception:
        # As in every notebook: a form that fails is left out, the others are shown.
        return None
    if isinstance(form, tuple):
        form = form[0] if form else None
    return encode(form)


def _fits(mime, form):
    if not isinstance(form, str) or len(form) <= _longest_form:
        return True
    print(f"display: {mime} of {len(form)} characters is left out: {_longest_form} are the most", file=sys.stderr)
    return False


def encode(form):
    """Binary as base64."""
    return base64.b64encode(form).decode() if isinstance(form, (bytes, bytearray)) else form


def text(value):
    """Its repr, cut, whatever that does."""
    try:
        return cut(repr(value))
    except Exception as error:
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}: {error}>"


def cut(text, most=_longest_text):
    """The text, or the beginning of one that is too long."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most} more characters)"


def size(form):
    """Bytes of the form as strict JSON, or None where it is none."""
    try:
        return len(json.dumps(form, allow_nan=False))
    except (TypeError, ValueError, RecursionError, MemoryError):
        return None


def json_value(value):
    """The value as strict JSON text, or None where it has none or is too large."""
    try:
        if isinstance(value, (list, tuple, dict)) and len(value) > _most_items:
            return None
        text = json.dumps(value, default=_plain, allow_nan=False)
    except Exception:
        # Whatever a type of the user raises here: the cell has run, and its value has other forms.
        return None
    return text if len(text) <= _longest_value else None


def _plain(value):
    items = getattr(value, "size", 0)
    if isinstance(items, int) and items > _most_items:
        raise ValueError(f"{items} items are too many for JSON")
    if isinstance(value, getattr(sys.modules.get("pandas"), "DataFrame", ())):
        return json.loads(value.to_json(orient="records", date_format="iso", default_handler=str))
    # Arrays and scalars of numpy and of what follows its protocol.
    for name in ("tolist", "item"):
        method = getattr(type(value), name, None)
        if method is not None:
            return method(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


def install(show):
    """Makes `display` a builtin; `show` takes each bundle."""

    def display(*values, raw=False):
        """Shows each value in the forms it has. With `raw`, each is a bundle by MIME type already."""
        for value in values:
            show({mime: encode(form) for mime, form in value.items()} if raw else bundle(value))

    builtins.display = display
