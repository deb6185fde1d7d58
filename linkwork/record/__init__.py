"""Recordings on disk: written while a simulation steps, readable up to the last frame when it is killed."""

from linkwork.record.reader import Frame, Recording

__all__ = ["Frame", "Recording"]
