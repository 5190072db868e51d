module @jit_iota attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<9xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<9xf32> loc(#loc3)
    return %0 : tensor<9xf32> loc(#loc4)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("cpu_healthy.py":16:4 to :19)
#loc2 = loc("<module>"(#loc1))
#loc3 = loc("jit(iota)/iota"(#loc2))
#loc4 = loc("jit(iota)"(#loc2))
