import pytest

from linkwork.gallery import find, names

WANTED = {
    "arm", "chain", "double-pendulum", "four-bar", "heavy-chain", "heavy-top", "net", "pear", "pendulum",
    "million", "protein", "pulley-chain", "spinning-box", "t-handle", "willow",
}  # fmt: skip


def test_gallery_has_all_its_scenes():
    assert set(names()) >= WANTED


@pytest.mark.parametrize("name", sorted(WANTED))
def test_scene_says_what_it_shows_and_has_a_number(name):
    scene = find(name)
    assert 10 < len(scene.title) < 90
    assert scene.size
    assert scene.seconds / scene.dt >= 100
    assert scene._number is not None


@pytest.mark.parametrize("name", sorted(WANTED))
def test_scene_is_the_same_every_time(name):
    parameters = {"willow": {"links": 900}, "pear": {"links": 900}, "million": {"links": 1001}}.get(name, {})
    first, second = (find(name).build(**parameters).build() for _ in range(2))
    assert (first.translation == second.translation).all()
    assert (first.rotation == second.rotation).all()
