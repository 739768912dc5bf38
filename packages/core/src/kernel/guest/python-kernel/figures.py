"""Figures of matplotlib (and what draws with it, such as seaborn), plotly and Pillow."""

import base64
import importlib.util
import io
import json
import os
import sys

from . import display
from .patches import Patches


def install(show):
    """Has the libraries show by `show`, which takes bundles, what they would open a window for."""
    # Programs that a cell starts have no window either.
    os.environ.setdefault("MPLBACKEND", "agg")
    display.register("matplotlib.figure", "Figure", _figure_forms)
    display.register("plotly.basedatatypes", "BaseFigure", _plotly_forms)

    def patch_pyplot(pyplot):
        pyplot.show = lambda *args, **options: show_open(show)
        figure = sys.modules["matplotlib.figure"].Figure
        figure.show = lambda self, *args, **options: show(display.bundle(self))

    def patch_plotly(renderers):
        render = renderers.show

        def show_plotly(fig, renderer=None, *args, **options):
            if renderer is not None:
                return render(fig, renderer, *args, **options)
            if isinstance(fig, dict):
                fig = sys.modules["plotly"].graph_objects.Figure(fig)
            show(display.bundle(fig))

        renderers.show = show_plotly

    def patch_pillow(module):
        module.Image.show = lambda self, *args, **options: show(display.bundle(self))

    patches = {
        "matplotlib.pyplot": patch_pyplot,
        "plotly.io._renderers": patch_plotly,
        "PIL.Image": patch_pillow,
    }
    Patches(patches).install()


def show_open(show):
    """Shows the open figures of pyplot in their order, and closes them."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None or "matplotlib.pyplot" not in sys.modules:
        return
    try:
        for manager in helpers.Gcf.get_all_fig_managers():
            show(display.bundle(manager.canvas.figure))
    finally:
        helpers.Gcf.destroy_all()


def _figure_forms(figure):
    """A figure that has been shown is closed, so that the end of the cell does not show it again."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(figure)
    if not figure.axes and not figure.lines and not figure.texts and not figure.images:
        return {}
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return {"image/png": base64.b64encode(file.getvalue()).decode()}


def _plotly_forms(figure):
    return {
        **_plotly_picture(figure),
        "application/vnd.plotly.v1+json": json.loads(figure.to_json()),
        "text/html": figure.to_html(include_plotlyjs="cdn", full_html=False),
    }


def _plotly_picture(figure):
    """The figure drawn by kaleido, where that is installed and finds its browser."""
    try:
        if importlib.util.find_spec("kaleido") is None:
            return {}
        return {"image/png": base64.b64encode(figure.to_image(format="png")).decode()}
    except Exception as error:
        print(f"display: plotly could not draw the figure: {error}", file=sys.stderr)
        return {}
