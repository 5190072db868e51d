#loc1 = loc("args[0]")
module @jit_reshape attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32> loc("args[0]")) -> (tensor<3x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<9xf32>) -> tensor<3x3xf32> loc(#loc4)
    return %0 : tensor<3x3xf32> loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("cpu_healthy.py":16:4 to :33)
#loc3 = loc("<module>"(#loc2))
#loc4 = loc("jit(reshape)/reshape"(#loc3))
#loc5 = loc("jit(reshape)"(#loc3))
