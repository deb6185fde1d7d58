"""What an island does with one of its components: tasks of one Warp function, the same for all sizes of nodes."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.linear.supernodes import substitute_ahead
from linkwork.mabd.affine import mat34, real
from linkwork.mabd.bodies import Bodies, Scheme, predict
from linkwork.mabd.components import Components, Joints, Work
from linkwork.mabd.dual import gather, respond, spread
from linkwork.mabd.dual_solve import dual_solver
from linkwork.mabd.engine import component_engine, linearise_bodies
from linkwork.mabd.laws import Laws
from linkwork.mabd.rows import linearise_joint
from linkwork.mabd.stiffened import factor_hessian

# what a component is asked to do
BEGIN = wp.constant(0)
LINEARISE = wp.constant(1)
ANSWER = wp.constant(2)
ANSWER_AGAIN = wp.constant(3)
TAKE = wp.constant(4)
TURN = wp.constant(5)
ADVANCE = wp.constant(6)
PULL = wp.constant(7)
CLOSE = wp.constant(8)
MEASURE = wp.constant(9)
WEIGH = wp.constant(10)
STRUCK = wp.constant(11)
GO_BACK = wp.constant(12)
CONCLUDE = wp.constant(13)
STEP_ALONE = wp.constant(14)
SEASONED = wp.constant(15)
SILENCE = wp.constant(16)
REMEMBER = wp.constant(17)
RECALL = wp.constant(18)


@wp.struct
class Shared:
    """Vectors over moving bodies, body frames."""

    gradient: wp.array(dtype=mat34)
    kept: wp.array(dtype=mat34)
    total: wp.array(dtype=mat34)  # the Newton step
    r: wp.array(dtype=mat34)
    p: wp.array(dtype=mat34)
    Kp: wp.array(dtype=mat34)
    Y: wp.array(dtype=mat34)  # the same as Work.Y and Work.Q_base of all groups
    Q_base: wp.array(dtype=mat34)


@cache
def member_engine(size: int) -> SimpleNamespace:
    """What an island does with one of its components, for nodes of the given number of rows."""
    solver = dual_solver(size)
    engine = component_engine(size)
    blocks = solver.blocks
    Factor = blocks.Factor
    vec = blocks.vec
    factor = solver.factor
    substitute = blocks.substitute
    assemble = solver.assemble
    refine = solver.refine
    refine_panels = solver.refine_panels
    gather_rhs = solver.gather_rhs
    count_redundant = solver.count_redundant
    check = engine.check
    settle = engine.settle
    merit = engine.merit
    hit = engine.hit
    go_back = engine.go_back
    conclude = engine.conclude
    advance = engine.advance
    B = wp.constant(size)

    @wp.struct
    class Party:
        J: Joints
        c: Components
        w: Work
        f: Factor
        x: wp.array(dtype=vec)
        residual: wp.array(dtype=vec)
        total: wp.array(dtype=wp.float64)  # multipliers of the Newton step
        search: wp.array(dtype=wp.float64)
        spare: wp.array(dtype=wp.float64)  # multipliers during a bounce
        floor: wp.array(dtype=wp.float64)  # per component: what was added to the dual's diagonal

    @wp.func
    def linearise(b: Bodies, s: Scheme, laws: Laws, g: Party, k: int, strained: bool):
        """Bodies with their own gradients and Hessians, and the rows of the joints."""
        linearise_bodies(b, s, g.w, g.c.body_start[k], g.c.body_end[k], strained)
        for j in range(g.c.joint[k], g.c.joint[k + 1]):
            linearise_joint(b, s, g.J, laws, g.w, j, g.c.fresh[k] == 1, 0, True)

    @wp.func
    def answer(b: Bodies, g: Party, h: Shared, k: int, leading: bool):
        """w.Y and w.multiplier <- K^-1 (b.g, joint gaps); not leading: the joints' gaps are zero, the factor is there."""
        body0 = g.c.body_start[k]
        body1 = g.c.body_end[k]
        joint0 = g.c.joint[k]
        joint1 = g.c.joint[k + 1]
        if leading:
            for i in range(body0, body1):
                if b.slot[i] >= 0:
                    factor_hessian(b.hessian, b.slot[i])
        respond(b, g.w, body0, body1)
        if joint1 > joint0:
            if leading:
                g.floor[k] = assemble(b, g.J, g.c, g.w, g.f, k)
                gather_rhs(b, g.J, g.w, joint0, joint1)
                factor(g.c, g.w, g.f, k)
                if g.c.fresh[k] == 1 and g.c.closed[k] == 1:
                    count_redundant(g.c, g.w, k, g.floor[k])
            else:
                gather(b, g.J, g.w, g.w.multiplier, joint0, joint1)
                for u in range(g.c.node[k] * B, g.c.node[k + 1] * B):
                    g.w.multiplier[u] = -g.w.multiplier[u]
            if g.c.closed[k] == 0:
                substitute(g.f, g.x, g.c.node[k], g.c.node[k + 1])
            elif g.c.filled[k] == 1:
                if not leading:
                    for u in range(g.c.node[k] * B, g.c.node[k + 1] * B):
                        g.w.s[u] = g.w.multiplier[u]
                    substitute_ahead(g.w.panels, g.w.s, g.c.super[k], g.c.super[k + 1])
                refine_panels(g.c, g.w, k, g.floor[k])
            else:
                for i in range(body0, body1):
                    h.kept[i] = b.g[i]
                refine(b, g.J, g.c, g.w, g.f, g.residual, k)
                for i in range(body0, body1):
                    b.g[i] = h.kept[i]
            spread(b, g.J, g.w, g.w.multiplier, joint0, joint1)
            respond(b, g.w, body0, body1)

    @wp.func
    def take_part(
        task: int, b: Bodies, s: Scheme, laws: Laws, g: Party, h: Shared, k: int, x: real, n: int
    ) -> wp.vec2d:
        """Do a task with component k; of the numbers returned an island takes the largest first and the sum of the second."""
        first = bool(g.c.fresh[k] == 1)
        result = wp.vec2d(real(0.0), real(0.0))
        u0 = g.c.node[k] * B
        u1 = g.c.node[k + 1] * B
        if task == STEP_ALONE:
            advance(b, s, g.J, laws, g.c, g.w, g.f, g.x, g.residual, k)
        elif task == BEGIN:
            for i in range(g.c.body_start[k], g.c.body_end[k]):
                predict(b, s, i, first)
            g.c.searched[k] = 0
        elif task == LINEARISE:
            linearise(b, s, laws, g, k, n == 1)
        elif task == ANSWER or task == ANSWER_AGAIN:
            answer(b, g, h, k, task == ANSWER)
        elif task == TAKE:
            for u in range(u0, u1):
                g.total[u] = g.w.multiplier[u]
                g.search[u] = real(0.0)
        elif task == TURN:
            for u in range(u0, u1):
                g.search[u] = g.w.multiplier[u] + x * g.search[u]
        elif task == ADVANCE:
            for u in range(u0, u1):
                g.total[u] += x * g.search[u]
        elif task == PULL:
            # the joints' forces join b.g
            for u in range(u0, u1):
                g.w.multiplier[u] = g.total[u]
                result[0] = wp.max(result[0], wp.abs(g.total[u]))
            spread(b, g.J, g.w, g.w.multiplier, g.c.joint[k], g.c.joint[k + 1])
        elif task == CLOSE:
            # close joints where only their gaps are left; 1 if something else is
            small = bool(n > 0)
            met = bool(small)
            if g.c.nonlinear[k] == 1:
                met = settle(b, s, g.J, laws, g.c, g.w, g.f, g.residual, k, first, small, wp.abs(n))
            if not met:
                result[0] = real(1.0)
        elif task == MEASURE and g.c.nonlinear[k] == 0:
            check(b, s, g.J, laws, g.c, g.w, k, first, 0)
        elif task == WEIGH:
            result[1] = merit(b, s, g.J, laws, g.c, g.w, k, first, x)
        elif task == STRUCK:
            if hit(g.J, laws, g.c, k):
                result[0] = real(1.0)
        elif task == SILENCE:
            # rows ask for no motion
            for r in range(g.J.first_row[g.c.joint[k]], g.J.first_row[g.c.joint[k + 1]]):
                g.J.rhs[r] = real(0.0)
        elif task == REMEMBER:
            for u in range(u0, u1):
                g.spare[u] = g.w.multiplier[u]
        elif task == RECALL:
            for u in range(u0, u1):
                g.w.multiplier[u] = g.spare[u]
        elif task == SEASONED:
            # 1 if the step went on from the last two
            if not first:
                result[0] = real(1.0)
        elif task == GO_BACK:
            if first:
                for i in range(g.c.body_start[k], g.c.body_end[k]):
                    b.kind[i] = b.kind[i] - s.start_types
            go_back(b, s, g.c, k)
            g.c.fresh[k] = 1
        elif task == CONCLUDE:
            conclude(b, s, g.J, laws, g.c, k, int(x), first, n)
        return result

    return SimpleNamespace(Party=Party, take_part=take_part)
