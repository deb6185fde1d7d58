"""Pictures of simulations: animations in one HTML file that plays without a network."""

from linkwork.view.html import Animation, write_html

__all__ = ["Animation", "write_html"]
