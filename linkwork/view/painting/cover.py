"""Which triangle is nearest behind every sample of a view, for the eye and for the lights alike."""

import warp as wp

__all__ = ["Tables", "View", "cover"]

wp.set_module_options({"enable_backward": False})


@wp.struct
class Tables:
    """All meshes and their copies. A group is one mesh with its copies; its triangles have consecutive numbers."""

    group_first: wp.array(dtype=wp.int64)  # number of the group's first triangle; one more entry closes the last
    group_face: wp.array(dtype=wp.int32)  # row of the group's first face
    group_faces: wp.array(dtype=wp.int32)  # faces per copy
    group_copy: wp.array(dtype=wp.int32)  # row of the group's first copy
    vertices: wp.array(dtype=wp.vec3)
    faces: wp.array(dtype=wp.vec3i)
    normals: wp.array2d(dtype=wp.vec3)  # (f, 3) at the corners
    linear: wp.array(dtype=wp.mat33)
    origins: wp.array(dtype=wp.vec3)
    colors: wp.array(dtype=wp.vec3)  # linear light


@wp.struct
class View:
    """Rows of `axes` point right, down and away as seen from `eye`; samples lie at x = centre + scale * right."""

    eye: wp.vec3
    axes: wp.mat33
    scale: wp.vec2
    centre: wp.vec2
    near: wp.float32
    far: wp.float32
    parallel: wp.int32  # 1 for light that comes from far away
    width: wp.int32
    height: wp.int32


@wp.func
def group_of(tables: Tables, triangle: wp.int64):
    low = int(0)
    high = tables.group_face.shape[0] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if tables.group_first[middle] <= triangle:
            low = middle
        else:
            high = middle - 1
    return low


@wp.func
def on_sheet(view: View, point: wp.vec3):
    """Sample coordinates, and a nearness that is linear on the sheet: larger is nearer, always positive."""
    seen = view.axes * (point - view.eye)
    if view.parallel == 1:
        nearness = 1.0 - (seen[2] - view.near) / (view.far - view.near)
        return wp.vec3(view.centre[0] + view.scale[0] * seen[0], view.centre[1] + view.scale[1] * seen[1], nearness)
    shrink = 1.0 / wp.max(seen[2], 1.0e-20)
    return wp.vec3(
        view.centre[0] + view.scale[0] * seen[0] * shrink, view.centre[1] + view.scale[1] * seen[1] * shrink, shrink
    )


@wp.func
def edge(a: wp.vec3, b: wp.vec3, x: float, y: float):
    """Twice the signed area of a, b and (x, y)."""
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


@wp.func
def mark(nearest: wp.array(dtype=wp.uint64), sample: int, nearness: float, triangle: wp.int64):
    """The bits of positive floats sort as the floats do: the nearest triangle has the largest key."""
    key = wp.uint64(wp.cast(nearness, wp.uint32)) * wp.uint64(4294967296) + wp.uint64(triangle) + wp.uint64(1)
    wp.atomic_max(nearest, sample, key)


@wp.kernel
def cover(tables: Tables, view: View, first: wp.int64, nearest: wp.array(dtype=wp.uint64)):
    """Write the key of one triangle into every sample in which it is nearest."""
    triangle = first + wp.int64(wp.tid())
    group = group_of(tables, triangle)
    within = triangle - tables.group_first[group]
    faces = wp.int64(tables.group_faces[group])
    face = tables.faces[tables.group_face[group] + wp.int32(within % faces)]
    copy = tables.group_copy[group] + wp.int32(within / faces)
    linear = tables.linear[copy]
    origin = tables.origins[copy]
    a = on_sheet(view, linear * tables.vertices[face[0]] + origin)
    b = on_sheet(view, linear * tables.vertices[face[1]] + origin)
    c = on_sheet(view, linear * tables.vertices[face[2]] + origin)
    if view.parallel == 0:
        limit = 1.0 / view.near
        if a[2] > limit or b[2] > limit or c[2] > limit:
            return
    left = wp.max(wp.min(a[0], wp.min(b[0], c[0])), 0.0)
    right = wp.min(wp.max(a[0], wp.max(b[0], c[0])), float(view.width))
    top = wp.max(wp.min(a[1], wp.min(b[1], c[1])), 0.0)
    bottom = wp.min(wp.max(a[1], wp.max(b[1], c[1])), float(view.height))
    if left >= right or top >= bottom:
        return
    if right - left < 1.0 and bottom - top < 1.0:
        # smaller than a sample: what is far away must not vanish
        mark(
            nearest,
            int(0.5 * (top + bottom)) * view.width + int(0.5 * (left + right)),
            (a[2] + b[2] + c[2]) / 3.0,
            triangle,
        )
        return
    area = edge(a, b, c[0], c[1])
    if area == 0.0:
        return
    for row in range(int(wp.ceil(top - 0.5)), int(wp.ceil(bottom - 0.5))):
        y = float(row) + 0.5
        for column in range(int(wp.ceil(left - 0.5)), int(wp.ceil(right - 0.5))):
            x = float(column) + 0.5
            u = edge(b, c, x, y) / area
            v = edge(c, a, x, y) / area
            w = 1.0 - u - v
            if u >= 0.0 and v >= 0.0 and w >= 0.0:
                mark(nearest, row * view.width + column, u * a[2] + v * b[2] + w * c[2], triangle)
