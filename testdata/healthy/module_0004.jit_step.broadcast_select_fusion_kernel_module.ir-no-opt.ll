; ModuleID = '__compute_module_broadcast_select_fusion_kernel_module'
source_filename = "__compute_module_broadcast_select_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%XLA_CPU_KernelCallFrame = type { ptr, ptr, i64, ptr }
%XLA_CPU_KernelArg = type { ptr, i64 }
%kernel_dim3 = type { i64, i64, i64 }

; Function Attrs: uwtable
define ptr @broadcast_select_fusion(ptr %0) #0 {
  %2 = getelementptr inbounds %XLA_CPU_KernelCallFrame, ptr %0, i32 0, i32 3
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !3, !dereferenceable !4
  %6 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 1, i32 0
  %7 = load ptr, ptr %6, align 8, !invariant.load !3, !dereferenceable !5
  %8 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 2, i32 0
  %9 = load ptr, ptr %8, align 8, !invariant.load !3, !dereferenceable !4
  %10 = getelementptr inbounds %XLA_CPU_KernelCallFrame, ptr %0, i32 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds %kernel_dim3, ptr %11, i32 0, i32 0
  %13 = load i64, ptr %12, align 4, !invariant.load !3
  %14 = getelementptr inbounds %kernel_dim3, ptr %11, i32 0, i32 1
  %15 = load i64, ptr %14, align 4, !invariant.load !3
  %16 = getelementptr inbounds %kernel_dim3, ptr %11, i32 0, i32 2
  %17 = load i64, ptr %16, align 4, !invariant.load !3
  call void @broadcast_select_fusion_wrapped(ptr %5, ptr %7, ptr %9, i64 %13, i64 %15, i64 %17)
  ret ptr null
}

; Function Attrs: alwaysinline
define internal void @broadcast_select_fusion_wrapped(ptr noalias align 64 dereferenceable(36) %0, ptr noalias align 64 dereferenceable(4) %1, ptr noalias align 64 dereferenceable(36) %2, i64 %3, i64 %4, i64 %5) #1 {
  %7 = getelementptr inbounds [1 x i32], ptr %1, i32 0, i32 0
  %8 = load i32, ptr %7, align 4, !invariant.load !3
  %9 = icmp eq i32 %8, 0
  br label %10

10:                                               ; preds = %31, %6
  %11 = phi i64 [ %32, %31 ], [ 0, %6 ]
  %12 = icmp slt i64 %11, 3
  br i1 %12, label %13, label %33

13:                                               ; preds = %10
  %14 = trunc i64 %11 to i32
  %15 = mul nsw i64 %11, 3
  br label %16

16:                                               ; preds = %19, %13
  %17 = phi i64 [ %30, %19 ], [ 0, %13 ]
  %18 = icmp slt i64 %17, 3
  br i1 %18, label %19, label %31

19:                                               ; preds = %16
  %20 = mul nsw i64 %17, 3
  %21 = add nsw i64 %11, %20
  %22 = getelementptr inbounds [9 x float], ptr %0, i32 0, i64 %21
  %23 = load float, ptr %22, align 4, !invariant.load !3
  %24 = trunc i64 %17 to i32
  %25 = icmp sge i32 %14, %24
  %26 = select i1 %9, float %23, float +qnan
  %27 = select i1 %25, float %26, float 0.000000e+00
  %28 = add nsw i64 %15, %17
  %29 = getelementptr inbounds [9 x float], ptr %2, i32 0, i64 %28
  store float %27, ptr %29, align 4
  %30 = add i64 %17, 1
  br label %16

31:                                               ; preds = %16
  %32 = add i64 %11, 1
  br label %10, !llvm.loop !6

33:                                               ; preds = %10
  ret void
}

attributes #0 = { uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { alwaysinline }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 1}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 36}
!5 = !{i64 4}
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.unroll.disable"}
