"""Pictures of simulations: stills painted without a screen, and animations in one HTML file."""

from linkwork.view.html import Animation, write_html
from linkwork.view.stills import still

__all__ = ["Animation", "still", "write_html"]
