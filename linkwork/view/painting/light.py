"""Light on what the eye sees: a sun with soft shadows, the sky behind everything that stands in its way, the floor."""

import warp as wp

from linkwork.view.painting.cover import Tables, View, group_of, on_sheet

__all__ = ["Stage", "shade", "soften"]

wp.set_module_options({"enable_backward": False})

SEARCHED = 6
TAPS = 8
GOLDEN = wp.constant(2.39996323)


@wp.struct
class Stage:
    """Lights, planes and colours; linear light from 0 to 1."""

    to_sun: wp.vec3
    sun: wp.vec3
    sun_size: wp.float32  # tangent of the half angle under which the sun is seen
    sky: wp.vec3
    bounce: wp.vec3
    horizon: wp.vec3
    zenith: wp.vec3
    floor: wp.vec3
    line: wp.vec3
    grid: wp.float32  # side of a square, m
    fade: wp.float32  # where the floor is half lost in the horizon, m from the centre
    centre: wp.vec3
    plane_points: wp.array(dtype=wp.vec3)
    plane_normals: wp.array(dtype=wp.vec3)
    sun_view: View
    sun_map: wp.array2d(dtype=wp.float32)
    sky_views: wp.array(dtype=View)
    sky_directions: wp.array(dtype=wp.vec3)
    sky_maps: wp.array3d(dtype=wp.float32)


@wp.func
def scatter(x: int, y: int):
    """A number from 0 to 1 that differs from those of the samples around (interleaved gradients)."""
    inner = 0.06711056 * float(x) + 0.00583715 * float(y)
    outer = 52.9829189 * (inner - wp.floor(inner))
    return outer - wp.floor(outer)


@wp.func
def slope_of(view: View, normal: wp.vec3):
    """Change of nearness per sample along a surface with this normal."""
    n = view.axes * normal
    depth = view.far - view.near
    away = wp.min(n[2], -0.05)
    return wp.vec2(n[0] / away / view.scale[0] / depth, n[1] / away / view.scale[1] / depth)


@wp.func
def sunlit(stage: Stage, point: wp.vec3, normal: wp.vec3, turn: float):
    """Share of the sun that is seen from a point, from 0 to 1: the wider the farther what hides it."""
    view = stage.sun_view
    texel = 1.0 / wp.min(view.scale[0], view.scale[1])
    here = on_sheet(view, point + normal * (1.5 * texel))
    if here[0] < 0.0 or here[1] < 0.0 or here[0] >= float(view.width) or here[1] >= float(view.height):
        return 1.0
    depth = view.far - view.near
    slope = slope_of(view, normal)
    reach = wp.min(0.25 * depth * stage.sun_size, 40.0 * texel)
    hidden = float(0.0)
    hiders = float(0.0)
    for k in range(SEARCHED):
        angle = GOLDEN * float(k) + 6.2831853 * turn
        radius = reach * wp.sqrt((float(k) + 0.5) / float(SEARCHED))
        dx = radius * wp.cos(angle) * view.scale[0]
        dy = radius * wp.sin(angle) * view.scale[1]
        x = wp.clamp(int(here[0] + dx), 0, view.width - 1)
        y = wp.clamp(int(here[1] + dy), 0, view.height - 1)
        nearer = stage.sun_map[y, x]
        above = nearer - (here[2] + slope[0] * dx + slope[1] * dy)
        if nearer > 0.0 and above * depth > texel:
            hidden += above
            hiders += 1.0
    if hiders == 0.0:
        return 1.0
    spread = wp.clamp(hidden / hiders * depth * stage.sun_size, 1.2 * texel, reach)
    lit = float(0.0)
    for k in range(TAPS):
        angle = GOLDEN * float(k) + 6.2831853 * turn
        radius = spread * wp.sqrt((float(k) + 0.5) / float(TAPS))
        dx = radius * wp.cos(angle) * view.scale[0]
        dy = radius * wp.sin(angle) * view.scale[1]
        x = wp.clamp(int(here[0] + dx), 0, view.width - 1)
        y = wp.clamp(int(here[1] + dy), 0, view.height - 1)
        nearer = stage.sun_map[y, x]
        if nearer == 0.0 or (nearer - (here[2] + slope[0] * dx + slope[1] * dy)) * depth < texel:
            lit += 1.0
    return lit / float(TAPS)


@wp.func
def skylit(stage: Stage, point: wp.vec3, normal: wp.vec3, first: int, stride: int, turn: float):
    """Light of the sky that reaches a point, 1 on a level surface in the open: every direction is seen or hidden."""
    light = float(0.0)
    whole = float(0.0)
    for k in range(first, stage.sky_views.shape[0], stride):
        facing = wp.dot(normal, stage.sky_directions[k])
        whole += stage.sky_directions[k][2]
        if facing > 0.0:
            view = stage.sky_views[k]
            texel = 1.0 / wp.min(view.scale[0], view.scale[1])
            here = on_sheet(view, point + normal * (2.0 * texel))
            angle = 6.2831853 * turn + GOLDEN * float(k)
            x = int(here[0] + 1.5 * wp.cos(angle))
            y = int(here[1] + 1.5 * wp.sin(angle))
            seen = float(1.0)
            if x >= 0 and y >= 0 and x < view.width and y < view.height:
                nearer = stage.sky_maps[k, y, x]
                if nearer > 0.0 and (nearer - here[2]) * (view.far - view.near) > 1.5 * texel:
                    seen = 0.0
            light += seen * facing
    return light / wp.max(whole, 1.0e-6)


@wp.func
def line_share(x: float, step: float, width: float):
    """Share of a pixel that is on a line of a ruler with unit spacing, when a pixel covers `step` of it."""
    drawn = wp.max(width, wp.min(step, 0.5))
    off = wp.abs(x - wp.floor(x + 0.5))
    share = wp.clamp((drawn + 1.0 * step - off) / wp.max(2.0 * step, 1.0e-6), 0.0, 1.0) * width / drawn
    return wp.lerp(share, 2.0 * width, wp.clamp(2.0 * step - 0.6, 0.0, 1.0))


@wp.func
def floor_color(stage: Stage, point: wp.vec3, u: wp.vec3, v: wp.vec3, steps: wp.vec2):
    """Squares on the floor, every fifth line stronger."""
    x = wp.dot(point, u) / stage.grid
    y = wp.dot(point, v) / stage.grid
    sx = steps[0] / stage.grid
    sy = steps[1] / stage.grid
    fine = wp.max(line_share(x, sx, 0.012), line_share(y, sy, 0.012))
    strong = wp.max(line_share(0.2 * x, 0.2 * sx, 0.0035), line_share(0.2 * y, 0.2 * sy, 0.0035))
    share = wp.clamp(0.4 * fine + 0.7 * strong, 0.0, 1.0)
    return stage.floor * (1.0 - share) + stage.line * share


@wp.func
def background(stage: Stage, ray: wp.vec3):
    up = wp.clamp(1.6 * ray[2], 0.0, 1.0)
    return stage.horizon * (1.0 - up) + stage.zenith * up


@wp.func
def ray_through(view: View, x: float, y: float):
    """Direction from the eye through a point of the sheet, one metre deep."""
    right = (x - view.centre[0]) / view.scale[0]
    down = (y - view.centre[1]) / view.scale[1]
    return wp.transpose(view.axes) * wp.vec3(right, down, 1.0)


@wp.func
def plane_hit(view: View, point: wp.vec3, normal: wp.vec3, ray: wp.vec3):
    """Depth at which a ray meets the front of a plane, or a negative number."""
    against = wp.dot(ray, normal)
    if against > -1.0e-9:
        return -1.0
    return wp.dot(point - view.eye, normal) / against


@wp.kernel
def shade(
    tables: Tables,
    view: View,
    stage: Stage,
    nearest: wp.array(dtype=wp.uint64),
    first_row: int,
    light: wp.array(dtype=wp.vec3),
):
    """Light that reaches the eye through one sample."""
    column, line = wp.tid()
    row = line + first_row
    sample = row * view.width + column
    ray = ray_through(view, float(column) + 0.5, float(row) + 0.5)
    away = wp.normalize(ray)
    result = background(stage, away)
    key = nearest[sample]
    depth = float(1.0e30)
    if key > wp.uint64(0):
        depth = 1.0 / wp.cast(wp.uint32(key / wp.uint64(4294967296)), wp.float32)
    plane = int(-1)
    for k in range(stage.plane_points.shape[0]):
        hit = plane_hit(view, stage.plane_points[k], stage.plane_normals[k], ray)
        if hit > 0.0 and hit < depth:
            depth = hit
            plane = k
    turn = scatter(column, row)
    # neighbouring samples of a pixel look at different parts of the sky
    part = (column % 2) + 2 * (row % 2)
    point = view.eye + ray * depth
    if plane >= 0:
        normal = stage.plane_normals[plane]
        u = wp.normalize(wp.cross(wp.vec3(0.0, 1.0, 0.0), normal))
        if wp.abs(normal[1]) > 0.9:
            u = wp.normalize(wp.cross(normal, wp.vec3(1.0, 0.0, 0.0)))
        v = wp.cross(normal, u)
        beside = ray_through(view, float(column) + 2.5, float(row) + 0.5)
        below = ray_through(view, float(column) + 0.5, float(row) + 2.5)
        dx = view.eye + beside * plane_hit(view, stage.plane_points[plane], normal, beside) - point
        dy = view.eye + below * plane_hit(view, stage.plane_points[plane], normal, below) - point
        steps = wp.vec2(wp.abs(wp.dot(dx, u)) + wp.abs(wp.dot(dy, u)), wp.abs(wp.dot(dx, v)) + wp.abs(wp.dot(dy, v)))
        albedo = floor_color(stage, point - stage.plane_points[plane], u, v, steps)
        sunny = stage.sun * wp.max(wp.dot(normal, stage.to_sun), 0.0) * sunlit(stage, point, normal, turn)
        skies = stage.sky * skylit(stage, point, normal, part, 4, turn)
        far = wp.length(point - stage.centre) / stage.fade
        clear = 1.0 / (1.0 + far * far * far)
        lit = wp.cw_mul(albedo, sunny + skies)
        result = lit * clear + result * (1.0 - clear)
    elif key > wp.uint64(0):
        triangle = wp.int64(key % wp.uint64(4294967296)) - wp.int64(1)
        group = group_of(tables, triangle)
        within = triangle - tables.group_first[group]
        faces = wp.int64(tables.group_faces[group])
        face_row = tables.group_face[group] + wp.int32(within % faces)
        face = tables.faces[face_row]
        copy = tables.group_copy[group] + wp.int32(within / faces)
        linear = tables.linear[copy]
        origin = tables.origins[copy]
        a = linear * tables.vertices[face[0]] + origin
        b = linear * tables.vertices[face[1]] + origin
        c = linear * tables.vertices[face[2]] + origin
        flat = wp.cross(b - a, c - a)
        size = wp.max(wp.dot(flat, flat), 1.0e-30)
        s = wp.clamp(wp.dot(wp.cross(c - b, point - b), flat) / size, 0.0, 1.0)
        t = wp.clamp(wp.dot(wp.cross(a - c, point - c), flat) / size, 0.0, 1.0)
        rounded = (
            s * tables.normals[face_row, 0]
            + t * tables.normals[face_row, 1]
            + (1.0 - s - t) * tables.normals[face_row, 2]
        )
        normal = wp.normalize(wp.transpose(wp.inverse(linear)) * rounded)
        flat = wp.normalize(flat)
        if wp.dot(flat, away) > 0.0:
            flat = -flat
        if wp.dot(normal, flat) < 0.0:
            normal = -normal
        facing = wp.max(wp.dot(normal, stage.to_sun), 0.0)
        sunny = stage.sun * 0.0
        if facing > 0.0:
            sunny = stage.sun * sunlit(stage, point, flat, turn)
        half = wp.normalize(stage.to_sun - away)
        gloss = 0.35 * wp.pow(wp.max(wp.dot(normal, half), 0.0), 60.0)
        edge_on = 1.0 - wp.abs(wp.dot(normal, away))
        skies = stage.sky * skylit(stage, point, normal, part, 4, turn)
        floors = stage.bounce * (0.5 - 0.5 * normal[2])
        albedo = tables.colors[copy]
        rim = 0.12 * edge_on * edge_on * edge_on
        result = wp.cw_mul(albedo, sunny * facing + skies + floors) + sunny * gloss + skies * rim
    light[sample] = result


@wp.func
def displayed(x: float):
    """From linear light to the values of a screen (sRGB), with a shoulder instead of clipping."""
    y = x
    if x > 0.8:
        y = 0.8 + 0.2 * (1.0 - wp.exp(-(x - 0.8) / 0.2))
    if y <= 0.0031308:
        return 12.92 * y
    return 1.055 * wp.pow(y, 1.0 / 2.4) - 0.055


@wp.kernel
def soften(light: wp.array(dtype=wp.vec3), per_pixel: int, width: int, picture: wp.array3d(dtype=wp.uint8)):
    """Mean of the samples of a pixel."""
    column, row = wp.tid()
    total = wp.vec3(0.0, 0.0, 0.0)
    for y in range(per_pixel):
        for x in range(per_pixel):
            total += light[(row * per_pixel + y) * width + column * per_pixel + x]
    total = total / float(per_pixel * per_pixel)
    for channel in range(3):
        picture[row, column, channel] = wp.uint8(int(255.0 * displayed(total[channel]) + 0.5))
