"""Contacts of pairs by the closed forms, for many pairs at once."""

from __future__ import annotations

import numpy as np
import warp as wp
from contact.convex_pairs import Contacts, Shape, place

from linkwork.contact.geom import PLANE, Geom, Hulls, vec3
from linkwork.contact.half_space import half_space_contacts
from linkwork.contact.rounded import rounded_contacts


@wp.kernel(enable_backward=False)
def closed_forms(
    a: wp.array(dtype=Geom),
    b: wp.array(dtype=Geom),
    hulls: Hulls,
    margin: wp.float64,
    count: wp.array(dtype=wp.int32),
    normal: wp.array(dtype=vec3),
    point_a: wp.array2d(dtype=vec3),
    point_b: wp.array2d(dtype=vec3),
    radius: wp.array2d(dtype=wp.float64),
    gap: wp.array2d(dtype=wp.float64),
    key: wp.array2d(dtype=wp.int32),
):
    i = wp.tid()
    if b[i].kind == PLANE:
        m = half_space_contacts(a[i], b[i], hulls, margin)
    else:
        m = rounded_contacts(a[i], b[i], hulls, margin)
    count[i] = m.count
    normal[i] = m.normal
    radius[i, 0] = m.radius_a
    radius[i, 1] = m.radius_b
    for k in range(4):
        point_a[i, k] = m.point_a[k]
        point_b[i, k] = m.point_b[k]
        gap[i, k] = m.gap[k]
        key[i, k] = m.key[k]


def closed(pairs, margin: float = np.inf) -> list[Contacts]:
    """Spheres with anything, capsules with capsules, anything with a plane."""
    a, b, tables = place(pairs)
    n = len(pairs)
    out = [
        wp.zeros(n, dtype=wp.int32, device="cpu"),
        wp.zeros(n, dtype=vec3, device="cpu"),
        wp.zeros((n, 4), dtype=vec3, device="cpu"),
        wp.zeros((n, 4), dtype=vec3, device="cpu"),
        wp.zeros((n, 2), dtype=wp.float64, device="cpu"),
        wp.zeros((n, 4), dtype=wp.float64, device="cpu"),
        wp.zeros((n, 4), dtype=wp.int32, device="cpu"),
    ]
    wp.launch(closed_forms, dim=n, inputs=[a, b, tables.hulls, margin, *out], device="cpu")
    count, normal, x, y, radius, gap, key = (o.numpy() for o in out)
    return [
        Contacts(normal[i], x[i, :k], y[i, :k], radius[i, 0], radius[i, 1], gap[i, :k], key[i, :k])
        for i, k in enumerate(count)
    ]


def plane(normal=(0.0, 0.0, 1.0), offset: float = 0.0) -> Shape:
    n = np.asarray(normal) / np.linalg.norm(normal)
    x = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    x /= np.linalg.norm(x)
    return Shape(PLANE, (0, 0, 0)).at(offset * n, np.stack([x, np.cross(n, x), n], axis=1))
