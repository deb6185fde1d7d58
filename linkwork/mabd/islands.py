"""Islands: components of the joint graph that contacts join, found anew each step."""

import warp as wp

from linkwork.mabd.touches import Touches


@wp.struct
class Islands:
    """Members and contacts of each island; components are numbered through both groups, the smaller rows first."""

    components: wp.int32
    small: wp.int32  # how many belong to the group of fewer rows
    moving: wp.int32
    component: wp.array(dtype=wp.int32)  # of each moving body
    body_start: wp.array(dtype=wp.int32)  # per component
    body_end: wp.array(dtype=wp.int32)
    mass: wp.array(dtype=wp.float64)  # kg, per component
    failed: wp.array(dtype=wp.int32)
    scale: wp.array(dtype=wp.float64)  # J, of the largest Newton step of this time step, per island
    weight: wp.array(dtype=wp.float64)  # kg, per island
    turns: wp.array(dtype=wp.int32)  # of conjugate gradients in this step, per island
    count: wp.array(dtype=wp.int32)  # 1 entry
    leader: wp.array(dtype=wp.int32)  # per component: one nearer to the root of its island
    island: wp.array(dtype=wp.int32)  # per component
    start: wp.array(dtype=wp.int32)
    member: wp.array(dtype=wp.int32)
    touch_start: wp.array(dtype=wp.int32)
    touch: wp.array(dtype=wp.int32)


@wp.func
def leader_of(s: Islands, k: int) -> int:
    root = int(k)
    while s.leader[root] != root:
        s.leader[root] = s.leader[s.leader[root]]
        root = s.leader[root]
    return root


@wp.func
def island_of_touch(s: Islands, t: Touches, c: int) -> int:
    i = t.a[c]
    if i >= s.moving:
        i = t.b[c]
    return s.island[s.component[i]]


@wp.kernel(enable_backward=False)
def find_islands(t: Touches, s: Islands):
    """Union by contacts, then lists by counting."""
    count = s.components
    touches = t.count[0]
    for k in range(count):
        s.leader[k] = k
    for c in range(touches):
        a = t.a[c]
        b = t.b[c]
        if a < s.moving and b < s.moving:
            x = leader_of(s, s.component[a])
            y = leader_of(s, s.component[b])
            # the first component leads: islands come out in the order of their first members
            s.leader[wp.max(x, y)] = wp.min(x, y)
    islands = int(0)
    for k in range(count):
        root = leader_of(s, k)
        if root == k:
            s.island[k] = islands
            islands += 1
        else:
            s.island[k] = s.island[root]
    s.count[0] = islands
    for i in range(islands + 1):
        s.start[i] = 0
        s.touch_start[i] = 0
    for k in range(count):
        s.start[s.island[k] + 1] += 1
    for c in range(touches):
        s.touch_start[island_of_touch(s, t, c) + 1] += 1
    for i in range(islands):
        s.start[i + 1] += s.start[i]
        s.touch_start[i + 1] += s.touch_start[i]
    # fill from the ends, backwards, so that the starts become themselves again and the order stays
    for back in range(count):
        k = count - 1 - back
        i = s.island[k] + 1
        s.start[i] -= 1
        s.member[s.start[i]] = k
    for back in range(touches):
        c = touches - 1 - back
        i = island_of_touch(s, t, c) + 1
        s.touch_start[i] -= 1
        s.touch[s.touch_start[i]] = c
    # each start moved to the entry behind; shift them back
    for i in range(islands):
        s.start[i] = s.start[i + 1]
        s.touch_start[i] = s.touch_start[i + 1]
    s.start[islands] = count
    s.touch_start[islands] = touches
