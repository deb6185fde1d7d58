"""Where frames are written: a block of them on the device."""

import warp as wp

from linkwork.mabd.affine import real


@wp.struct
class Reel:
    """A block of frames of equal size; places count numbers of 8 bytes, those of poses entries of their own type."""

    taken: wp.array(dtype=wp.int32)
    numbers: wp.array(dtype=wp.float64)
    singles: wp.array(dtype=wp.float32)  # the same memory
    precise: wp.int32  # 1 where poses are numbers, 0 where they are singles
    size: wp.int32
    residual: wp.int32
    energy: wp.int32
    coordinates: wp.int32
    pose_size: wp.int32
    poses: wp.int32
    rates: wp.int32  # behind the poses; 0 where they are not kept


@wp.func
def put_entry(reel: Reel, at: int, value: real):
    """An entry of a pose or rate."""
    if reel.precise == 1:
        reel.numbers[at] = value
    else:
        reel.singles[at] = wp.float32(value)
