"""Mechanisms with one known answer, and that answer."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import linkwork as lw

G = 9.81
# Static strains of about 1e-8 to 1e-7: elasticity stays below every error of time stepping that these tests look at.
RIGID = lw.Material(young=1e12, poisson=0.3)
# Free spin bends nothing: 1e9 is rigid there, and far stiffer bodies only magnify rounding and the strain that a turn taken
# in one linear step leaves behind.
SPINNING = lw.Material(young=1e9, poisson=0.3)


def integrate(rate, start, times):
    """Reference solution of y' = rate(t, y) at the times."""
    result = solve_ivp(rate, (0.0, max(times)), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    return result.y.T


def pendulum_scene(joint="hinge", material=RIGID):
    """A bar 1 x 0.1 x 0.1 m, pivoted at one end, released horizontal."""
    scene = lw.Scene(contact=False, gravity=(0, 0, -G))
    bar = scene.add_body(lw.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0), material=material)
    kind = lw.Hinge((0, 1, 0)) if joint == "hinge" else lw.Ball()
    scene.add_joint(kind, scene.ground, bar, at=(0, 0, 0))
    return scene


def pendulum_angles(times):
    """Angle below the horizontal, rad."""
    inertia = 100.0 * (1.0 / 4 + (1.0 + 0.01) / 12)
    return integrate(lambda t, y: [y[1], 100.0 * G * 0.5 * np.cos(y[0]) / inertia], [0.0, 0.0], times)[:, 0]


def point_pendulum_scene():
    """1 kg on 1 m, released horizontal (IFToMM A01). The mass is a ball of 5 mm; it hangs on a rod without mass."""
    scene = lw.Scene(contact=False, gravity=(0, 0, -G))
    inertia = POINT_INERTIA
    mass = scene.add_body(
        mass=1.0, inertia=[inertia] * 3, position=(1, 0, 0), material=lw.Material(young=1e15, poisson=0.3)
    )
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, mass, at=(0, 0, 0))
    return scene


POINT_INERTIA = 0.4 * 0.005**2


def point_pendulum_angles(times):
    return integrate(lambda t, y: [y[1], G * np.cos(y[0]) / (1.0 + POINT_INERTIA)], [0.0, 0.0], times)[:, 0]


def windows_scene(count, young=1e12):
    """IFToMM A02: `count` four-bar windows of uniform rods of 1 kg and 1 m, upright, tips at 1 m/s along x.

    All bars line up twice a turn. The linkage is singular there, elasticity decides with the root of 1 / E how it goes on,
    so that long runs need the stiffest rods: 1e12 gives 9e-4 m at 10 s, 1e14 less than 1e-4 m.
    """
    scene = lw.Scene(contact=False, gravity=(0, 0, -G))
    material = lw.Material(young=young, poisson=0.3)
    k = np.arange(count + 1)[:, None]
    x, z = np.array([[1.0, 0, 0]]), np.array([[0.0, 0, 1.0]])
    upright = Rotation.from_euler("y", -90, degrees=True).as_matrix()
    common = {"mass": 1.0, "inertia": [2e-4, 1 / 12, 1 / 12], "material": material}
    posts = scene.add_bodies(
        None, k * x + 0.5 * z, rotations=np.tile(upright, (count + 1, 1, 1)), velocities=np.tile(0.5 * x, (count + 1, 1)),
        angular_velocities=np.tile([[0.0, 1.0, 0.0]], (count + 1, 1)), **common,
    )  # fmt: skip
    k = k[:-1]
    tops = scene.add_bodies(None, (k + 0.5) * x + z, velocities=np.tile(x, (count, 1)), **common)
    axis = (0, 1, 0)
    scene.add_joints(lw.Hinge(axis), scene.ground, posts, at=np.arange(count + 1)[:, None] * x)
    scene.add_joints(lw.Hinge(axis), posts[:-1], tops, at=k * x + z)
    scene.add_joints(lw.Hinge(axis), tops, posts[1:], at=(k + 1) * x + z)
    return scene


def windows_tip(sim):
    """Tip (x, z) of the first post."""
    return (2.0 * sim.positions[0])[[0, 2]]


def windows_tips(count, times):
    inertia, weight = (count + 1) / 3 + count, (count + 1) / 2 + count
    angle = integrate(lambda t, y: [y[1], weight * G * np.sin(y[0]) / inertia], [0.0, 1.0], times)[:, 0]
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


T_HANDLE_INERTIA = np.array([2e-3, 3.5e-3, 4.5e-3])
T_HANDLE_SPIN = np.array([0.1, 3.0, 0.1])


def t_handle_scene():
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    scene.add_body(mass=0.5, inertia=T_HANDLE_INERTIA, angular_velocity=T_HANDLE_SPIN, material=SPINNING)
    return scene


def t_handle_flips(until):
    """Times at which the spin about the middle axis changes sign."""
    I = T_HANDLE_INERTIA  # noqa: E741

    def rate(t, w):
        return -np.cross(w, I * w) / I

    def middle(t, w):
        return w[1]

    result = solve_ivp(rate, (0, until), T_HANDLE_SPIN, method="DOP853", rtol=1e-12, atol=1e-13, events=middle)
    return result.t_events[0]


TOP = {"radius": 0.1, "length": 0.05, "height": 0.15, "tilt": np.radians(5.0), "spin": 10.0}


def top_frame():
    return Rotation.from_euler("y", TOP["tilt"]).as_matrix()


def heavy_top_scene():
    """A disc on a massless stem, spun about its axis and let go, its foot on a ball joint."""
    scene = lw.Scene(contact=False, gravity=(0, 0, -G))
    frame = top_frame()
    disc = scene.add_body(
        lw.Cylinder(TOP["radius"], TOP["length"]), position=TOP["height"] * frame[:, 2], rotation=frame,
        angular_velocity=TOP["spin"] * frame[:, 2], material=SPINNING,
    )  # fmt: skip
    scene.add_joint(lw.Ball(), scene.ground, disc, at=(0, 0, 0))
    return scene


def heavy_top_centres(times):
    """Centre of mass by Euler's equations about the foot; frame and spin in world axes."""
    mass = 1000.0 * np.pi * TOP["radius"] ** 2 * TOP["length"]
    axial = 0.5 * mass * TOP["radius"] ** 2
    across = mass * (3 * TOP["radius"] ** 2 + TOP["length"] ** 2) / 12 + mass * TOP["height"] ** 2

    def rate(t, y):
        n, L = y[:3], y[3:]
        w = L / across + n * (n @ L) * (1 / axial - 1 / across)
        return np.concatenate([np.cross(w, n), np.cross(TOP["height"] * n, [0, 0, -mass * G])])

    n = top_frame()[:, 2]
    return TOP["height"] * integrate(rate, np.concatenate([n, axial * TOP["spin"] * n]), times)[:, :3]
