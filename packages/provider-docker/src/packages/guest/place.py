"""Tells as JSON where this interpreter looks for packages, and where pip is to put more of them."""

import json
import site
import sys

places = [place for place in site.getsitepackages() if place in sys.path]
# An environment of its own does not look where a user's packages are.
inside = sys.prefix != sys.base_prefix
print(json.dumps({"site": places[0] if places else None, "user": None if inside else site.getusersitepackages()}))
