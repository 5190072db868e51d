"""Every program of the package, for `aliascheck compile kernels.programs:programs`."""

from kernels import with_jax_triton, with_mosaic, with_pallas, without_kernels


def programs():
    for module in (with_jax_triton, with_pallas, with_mosaic, without_kernels):
        yield from module.programs()
