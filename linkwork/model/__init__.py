"""What solvers read: frozen arrays built once from a scene."""

from linkwork.model.build import build_model
from linkwork.model.model import Model

__all__ = ["Model", "build_model"]
