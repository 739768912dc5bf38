"""What of IPython's own syntax works without it: `!command`, and a few of the `%` commands."""


def install(namespace):
    pass


def whole_cell(code):
    return code


def translate_line(source, number):
    return None
