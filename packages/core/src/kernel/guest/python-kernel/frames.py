"""What of a traceback is the user's."""

def without_ours(frames):
    """The traceback without the frames of this package: those that call the user's code, and patched calls in it."""
    kept = []
    while frames is not None:
        if not frames.tb_frame.f_code.co_filename.startswith(tuple(_hidden)):
            kept.append(frames)
        frames = frames.tb_next
    for frame, below in zip(kept, [*kept[1:], None]):
        frame.tb_next = below
    return kept[0] if kept else None


def hide(folder):
    """Has the code below a folder taken for ours."""
    _hidden.append(f"{folder}/")


_hidden = [without_ours.__code__.co_filename.rpartition("/")[0] + "/"]
