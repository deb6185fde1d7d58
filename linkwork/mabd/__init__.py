"""Co-rotated affine bodies with exact joints (paper 000)."""

from linkwork.mabd.settings import MABD

__all__ = ["MABD"]
