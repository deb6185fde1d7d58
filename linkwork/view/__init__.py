"""Pictures of simulations: stills and films painted without a screen, and animations in one HTML file."""

from linkwork.view.films import Film, film
from linkwork.view.html import Animation, write_html
from linkwork.view.stills import still

__all__ = ["Animation", "Film", "film", "still", "write_html"]
