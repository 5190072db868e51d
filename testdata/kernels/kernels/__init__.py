"""A small project with kernels of every kind that JAX has, some safe in place, some not."""
