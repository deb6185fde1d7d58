"""Contacts of a scene in its start pose, for tests."""

import numpy as np
import warp as wp

import linkwork as lw
from linkwork.contact.finder import Finder
from linkwork.contact.geom import mat34
from linkwork.model.graph import JointGraph

FIELDS = ("geom_a", "geom_b", "body_a", "body_b", "normal", "point_a", "point_b", "radius_a", "radius_b", "gap", "key")


class Found:
    """A finder whose rows are the model's bodies, with poses and rates that a test may set."""

    def __init__(self, scene: lw.Scene, dt: float = 1e-2):
        self.model = scene.build()
        self.dt = dt
        graph = JointGraph.build(self.model.motion, self.model.joint_base, self.model.joint_follower)
        self.finder = Finder.build(self.model, graph, np.arange(self.model.bodies, dtype=np.int32))
        self.R = np.array(self.model.rotation)
        self.x = np.array(self.model.translation)
        self.v = np.array(self.model.velocity)
        self.w = np.array(self.model.angular_velocity)

    def rates(self):
        """Poses (n, 3, 4) and their rates."""
        Q = np.concatenate([self.R, self.x[:, :, None]], axis=2)
        spin = np.cross(self.w[:, None, :], self.R.transpose(0, 2, 1)).transpose(0, 2, 1)
        V = np.concatenate([spin, self.v[:, :, None]], axis=2)
        return Q, V

    def arrays(self):
        return tuple(wp.array(values, dtype=mat34, device="cpu") for values in self.rates())

    def launch(self):
        Q, V = self.arrays()
        self.finder.launch(Q, V, self.dt)
        while self.finder.overflowed:
            self.finder.grow()
            self.finder.launch(Q, V, self.dt)
        return self.contacts()

    def contacts(self):
        count = self.finder.count
        return {name: getattr(self.finder.contacts, name).numpy()[:count] for name in (*FIELDS, "predecessor")}

    def step(self):
        """Find, keep, and move rigidly for dt."""
        found = self.launch()
        self.finder.keep()
        self.move(self.dt)
        return found

    def move(self, time: float):
        from scipy.spatial.transform import Rotation

        self.x = self.x + self.v * time
        self.R = Rotation.from_rotvec(self.w * time).as_matrix() @ self.R

    def surface_points(self, contacts):
        """World points on the surfaces of both sides."""
        a, b, n = contacts["body_a"], contacts["body_b"], contacts["normal"]
        x_a = np.einsum("nij,nj->ni", self.R[a], contacts["point_a"]) + self.x[a]
        x_b = np.einsum("nij,nj->ni", self.R[b], contacts["point_b"]) + self.x[b]
        return x_a - n * contacts["radius_a"][:, None], x_b + n * contacts["radius_b"][:, None]

    def pairs(self):
        """Candidate pairs of geoms of the last launch."""
        pairs = self.finder.broad.pairs
        count = int(pairs.count.numpy()[0])
        return np.stack([pairs.a.numpy()[:count], pairs.b.numpy()[:count]], axis=1)
