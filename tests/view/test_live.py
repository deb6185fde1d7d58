"""The live page and the replay: they render, play, and obey."""

from __future__ import annotations

import numpy as np
import pytest
from browser import chromium, needs_chromium, served
from free_flight import FreeFlight

import linkwork as lw
from linkwork.view.live import LiveView
from linkwork.view.plots import Curves
from linkwork.view.pulling import Pull, body_box
from linkwork.view.replay import Replay
from linkwork.view.stage import MOST_MESHES, MOST_POINTS


def spinning(bodies=5):
    """Boxes that spin in place, the first two joined by a ball joint on paper."""
    scene = lw.Scene(gravity=(0, 0, 0))
    spread = [(2.0 * k, 0, 5.0) for k in range(bodies)]
    links = scene.add_bodies(lw.Box(1, 0.5, 2), spread, angular_velocities=(0, 3, 0))
    scene.add_joint(lw.Ball(), links[0], links[1], at=(1, 0, 5))
    return lw.Simulation(scene, FreeFlight(), dt=1 / 60)


def pendulum():
    """A rod on a hinge at the origin, level at the start."""
    scene = lw.Scene()
    rod = scene.add_body(lw.Box(1.0, 0.2, 0.2), position=(0.5, 0, 0), name="rod")
    scene.add_joint(lw.Hinge(axis=(0, 1, 0)), scene.ground, rod, at=(0, 0, 0), name="pin")
    return lw.Simulation(scene, lw.MABD(), dt=5e-3)


def blue(picture):
    """Which pixels show a moving body."""
    return picture[..., 2] - picture[..., 0] > 25


def rendered(page):
    """A picture with bodies in the left half of the page, below the notice about software rendering."""
    picture = page.pixels()[150:, :440]
    return picture if blue(picture).sum() > 300 else None


@needs_chromium
def test_the_live_page_renders_plays_and_pauses_without_errors(tmp_path):
    with served(spinning().view(port=0, wait=False)) as view, chromium(tmp_path) as page:
        page.open(view.address)
        early = page.wait_for(lambda: rendered(page), what="a picture of the bodies")
        page.wait_for(lambda: (np.abs(page.pixels()[150:, :440] - early).max(axis=2) > 40).sum() > 300, what="motion")
        assert "residual" in page.text()
        assert page.errors == []
        pause = "[...document.querySelectorAll('button')].find(b => b.innerText === 'Pause').click()"
        page.evaluate(pause)
        page.wait_for(lambda: not view._transport.playing, what="the pause")
        stopped = view._simulation.steps
        step = "[...document.querySelectorAll('button')].find(b => b.innerText === 'Step').click()"
        page.evaluate(step)
        page.wait_for(lambda: view._simulation.steps == stopped + 1, what="one step")
        page.evaluate(step.replace("Step", "Reset"))
        page.wait_for(lambda: view._simulation.steps == 0, what="the start")


@needs_chromium
def test_a_click_picks_a_body_and_a_drag_pulls_it(tmp_path):
    simulation = pendulum()
    with served(simulation.view(port=0, wait=False, playing=False)) as view, chromium(tmp_path) as page:
        page.open(view.address)
        page.wait_for(lambda: rendered(page), what="a picture of the bodies")
        rows, columns = np.nonzero(blue(page.pixels()[150:, :440]))
        x, y = int(np.median(columns)), 150 + int(np.median(rows[columns == int(np.median(columns))]))
        page.click(x, y)
        page.wait_for(lambda: view._inspector.body == 0, what="the picked body")
        page.wait_for(lambda: "body 0: rod" in page.text(), what="the name of the body")
        page.mouse("mouseMoved", x, y)
        page.mouse("mousePressed", x, y, buttons=1)
        for k in range(1, 6):
            page.mouse("mouseMoved", x, y - 10 * k, buttons=1)
        pull = page.wait_for(lambda: view._pull, what="the pull")
        page.wait_for(lambda: pull.goal[2] > 0.02, what="the mouse above the rod")
        page.mouse("mouseReleased", x, y - 50)
        page.wait_for(lambda: view._pull is None, what="the end of the pull")


@needs_chromium
def test_a_recording_is_replayed_with_a_slider_and_without_errors(tmp_path):
    simulation = spinning()
    with simulation.record(tmp_path / "run.lwr", fps=30):
        simulation.step(120)
    with served(Replay(tmp_path / "run.lwr", port=0)) as view, chromium(tmp_path) as page:
        page.open(view.address)
        early = page.wait_for(lambda: rendered(page), what="a picture of the bodies")
        page.wait_for(lambda: (np.abs(page.pixels()[150:, :440] - early).max(axis=2) > 40).sum() > 300, what="motion")
        assert "time / s" in page.text()
        assert page.errors == []


def test_a_page_in_a_loop_of_ones_own_only_shows(capsys):
    simulation = spinning()
    with simulation.view(port=0, wait=False) as view:
        simulation.step(3)
        view.update()
        assert simulation.steps == 3
        assert view.address.startswith("http://localhost:")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"open {view.address}" in captured.err


def test_time_goes_at_the_speed_that_was_chosen():
    simulation = spinning()
    with simulation.view(port=0, wait=False) as view:
        view.speed = 0.5
        view.run(seconds=1.0)
        assert 0.3 < simulation.time < 0.7
        view.speed = float("inf")
        view.run(seconds=0.3)
        assert simulation.time > 1.5
        with pytest.raises(lw.LinkworkError, match="speed must be a positive number"):
            view.speed = 0


def test_a_failed_step_pauses_the_page_at_the_last_good_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the last good state is left there
    simulation = pendulum()

    def shove(sim):
        if sim.steps == 5:
            sim.apply_torque([0], (1e30, 1e30, 1e30))

    simulation.on_step(shove)
    with simulation.view(port=0, wait=False) as view:
        view.speed = float("inf")
        view.run(seconds=0.5)
        assert not view._transport.playing
        assert simulation.steps == 5
        assert np.isfinite(simulation.positions).all()


def test_a_pull_moves_a_hinged_body_to_the_mouse_and_stays_calm():
    simulation = pendulum()
    pull = Pull(simulation, 0, np.array([1.0, 0, 0]), np.array([0.0, 0.0, 3.0]))
    for _ in range(2000):
        pull.apply(simulation)
        simulation.step()
    assert simulation.positions[0] == pytest.approx((0, 0, 0.5), abs=0.02)
    assert np.linalg.norm(simulation.velocities[0]) < 1e-2


def test_what_was_grabbed_late_is_still_a_point_of_the_body():
    simulation = pendulum()
    pull = Pull(simulation, 0, np.array([0.9, 0.05, 4.0]), np.zeros(3))
    assert pull.point(simulation) == pytest.approx((0.9, 0.05, 0.1), abs=1e-6)
    low, high = body_box(simulation, 0)
    assert sorted(high - low) == pytest.approx((0.2, 0.2, 1.0), abs=1e-6)


def test_beyond_many_bodies_points_are_shown_and_the_page_says_so():
    count = MOST_MESHES + 40_000
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_bodies(lw.Box(0.1, 0.1, 0.1), np.arange(3.0 * count).reshape(count, 3))
    simulation = lw.Simulation(scene, FreeFlight(), dt=0.1)
    with simulation.view(port=0, wait=False) as view:
        shown = view._stage._points.points
        assert MOST_POINTS // 2 < len(shown) <= MOST_POINTS
        assert view._stage.note in view._status.content
        assert "60,000 bodies: one body of 2 is shown, as a point (30,000 points)" in view._stage.note


def test_beyond_many_joints_their_balls_are_coarse():
    def triangles(links):
        scene = lw.Scene()
        chain = scene.add_bodies(lw.Box(0.1, 0.02, 0.02), np.arange(links)[:, None] * [0.1, 0.0, 0.0])
        scene.add_joints(lw.Ball(), chain[:-1], chain[1:])
        with lw.Simulation(scene, FreeFlight(), dt=0.1).view(port=0, wait=False) as view:
            return len(view._stage._markers.handle.faces) * (links - 1)

    assert triangles(20_000) < triangles(1_001)  # the balls of 1,000 joints are still fine


def test_curves_begin_anew_when_time_goes_back():
    class Gui:
        def add_uplot(self, data, series, **options):
            self.data, self.series = data, series
            return self

    gui = Gui()
    curves = Curves(gui, "energy", ("a",))
    for time in (0.0, 1.0, 1.0, 2.0):
        curves.add(time, (time**2,))
    curves.draw()
    assert [column.tolist() for column in gui.data] == [[0.0, 1.0, 2.0], [0.0, 1.0, 4.0]]
    curves.add(0.5, (7.0,))
    curves.draw()
    assert [column.tolist() for column in gui.data] == [[0.5], [7.0]]
    curves.fill(range(5000), np.zeros((5000, 1)))
    assert len(gui.data[0]) <= 1500


def test_a_port_that_is_none_is_refused():
    with pytest.raises(lw.LinkworkError, match="port must be a number from 0"):
        spinning().view(port=70000, wait=False)


def test_forces_are_drawn_as_arrows_at_the_joints_of_the_picked_body():
    simulation = pendulum()
    simulation.step(20)
    with simulation.view(port=0, wait=False) as view:
        view._inspector._pick_body(0)
        view.refresh()
        ((start, end),) = view._stage._arrows["forces"].points
        assert start == pytest.approx((0, 0, 0), abs=1e-6)
        force = simulation.joint_forces[0]
        assert (end - start) / np.linalg.norm(end - start) == pytest.approx(force / np.linalg.norm(force), abs=1e-5)
        assert "body 0: rod" in view._inspector._text.content
        view._inspector._pick_body(None)
        view._inspector._pick_joint(0)
        view.refresh()
        assert "joint 0: pin" in view._inspector._text.content
        assert view._plots.coordinates is not None


def test_live_view_is_what_view_returns():
    with spinning().view(port=0, wait=False) as view:
        assert isinstance(view, LiveView)
