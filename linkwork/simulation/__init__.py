"""Simulation: the only place that knows about time, progress, recording and failure."""

from linkwork.simulation.coordinates import JointValues
from linkwork.simulation.measures import Energy
from linkwork.simulation.simulation import Simulation
from linkwork.simulation.stepping import Method, Stepper

__all__ = ["Energy", "JointValues", "Method", "Simulation", "Stepper"]
