"""The ipywidgets side: controls that need Python (they run the emulator again) above the component with the result.

A live view is offered only inside a Jupyter kernel. Set GEMMLAB_STATIC=1 to leave it out where notebooks are executed
for their stored outputs: those then hold the self-contained HTML alone, which needs no kernel.
"""

from __future__ import annotations

from collections.abc import Callable

from gemmlab.execution import is_static

LABEL, NARROW = {"description_width": "initial"}, {"width": "9em"}


def available() -> bool:
    """Tell whether a live view makes sense here: ipywidgets present, a Jupyter kernel, and GEMMLAB_STATIC not set."""
    if is_static():
        return False
    try:
        import ipywidgets  # noqa: F401
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


def view(controls: dict[str, tuple], make: Callable):
    """Return an ipywidgets box: one menu for each control above what `make(**values)` returns, remade on each change.

    controls: {argument of `make`: (label, options, value)}; `make` returns an object with `_repr_mimebundle_`. A
    ValueError of `make` is shown as one line in place of the component.
    """
    import ipywidgets

    # An Output whose content is assigned captures nothing and waits for no front end: headless runs cannot hang.
    area = ipywidgets.Output()
    menus = {
        name: ipywidgets.Dropdown(description=label, options=options, value=value, style=LABEL, layout=NARROW)
        for name, (label, options, value) in controls.items()
    }

    def show(_change=None):
        try:
            bundle = make(**{name: menu.value for name, menu in menus.items()})._repr_mimebundle_()
            data = bundle[0] if isinstance(bundle, tuple) else bundle
        except ValueError as error:
            data = {"text/plain": str(error)}
        area.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)

    for menu in menus.values():
        menu.observe(show, names="value")
    show()
    row = ipywidgets.HBox(list(menus.values()), layout={"flex_flow": "row wrap"})
    return ipywidgets.VBox([row, area])
