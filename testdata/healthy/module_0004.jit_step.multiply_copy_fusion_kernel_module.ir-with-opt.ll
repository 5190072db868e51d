; ModuleID = '__compute_module_multiply_copy_fusion_kernel_module'
source_filename = "__compute_module_multiply_copy_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable
define noalias noundef ptr @multiply_copy_fusion(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = load ptr, ptr %3, align 8, !invariant.load !3, !dereferenceable !4
  %5 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !3, !dereferenceable !4
  tail call void @llvm.experimental.noalias.scope.decl(metadata !5)
  br label %.preheader

.preheader:                                       ; preds = %1, %.preheader
  %7 = phi i64 [ 0, %1 ], [ %38, %.preheader ]
  %invariant.gep = getelementptr [4 x i8], ptr %4, i64 %7
  %.idx.i1 = mul nuw nsw i64 %7, 12
  %8 = getelementptr i8, ptr %4, i64 %.idx.i1
  %9 = getelementptr i8, ptr %6, i64 %.idx.i1
  %zext = and i64 %7, 4294967295
  %10 = icmp eq i64 %zext, 0
  %11 = load float, ptr %invariant.gep, align 4, !invariant.load !3, !alias.scope !8, !noalias !5
  %12 = uitofp i1 %10 to float
  %13 = fadd float %11, %12
  %14 = load float, ptr %8, align 4, !invariant.load !3, !alias.scope !11, !noalias !5
  %15 = fadd float %14, %12
  %16 = fadd float %13, %15
  %17 = fmul float %16, 5.000000e-01
  store float %17, ptr %9, align 4, !alias.scope !5, !noalias !14
  %18 = icmp eq i64 %zext, 1
  %gep.1 = getelementptr i8, ptr %invariant.gep, i64 12
  %19 = load float, ptr %gep.1, align 4, !invariant.load !3, !alias.scope !8, !noalias !5
  %20 = uitofp i1 %18 to float
  %21 = fadd float %19, %20
  %22 = getelementptr i8, ptr %8, i64 4
  %23 = load float, ptr %22, align 4, !invariant.load !3, !alias.scope !11, !noalias !5
  %24 = fadd float %23, %20
  %25 = fadd float %21, %24
  %26 = fmul float %25, 5.000000e-01
  %27 = getelementptr i8, ptr %9, i64 4
  store float %26, ptr %27, align 4, !alias.scope !5, !noalias !14
  %28 = icmp eq i64 %zext, 2
  %gep.2 = getelementptr i8, ptr %invariant.gep, i64 24
  %29 = load float, ptr %gep.2, align 4, !invariant.load !3, !alias.scope !8, !noalias !5
  %30 = uitofp i1 %28 to float
  %31 = fadd float %29, %30
  %32 = getelementptr i8, ptr %8, i64 8
  %33 = load float, ptr %32, align 4, !invariant.load !3, !alias.scope !11, !noalias !5
  %34 = fadd float %33, %30
  %35 = fadd float %31, %34
  %36 = fmul float %35, 5.000000e-01
  %37 = getelementptr i8, ptr %9, i64 8
  store float %36, ptr %37, align 4, !alias.scope !5, !noalias !14
  %38 = add nuw nsw i64 %7, 1
  %exitcond.not = icmp eq i64 %38, 3
  br i1 %exitcond.not, label %multiply_copy_fusion_wrapped.exit, label %.preheader, !llvm.loop !16

multiply_copy_fusion_wrapped.exit:                ; preds = %.preheader
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #1

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 2}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 36}
!5 = !{!6}
!6 = distinct !{!6, !7, !"multiply_copy_fusion_wrapped: argument 1"}
!7 = distinct !{!7, !"multiply_copy_fusion_wrapped"}
!8 = !{!9}
!9 = distinct !{!9, !10, !"fused_computation_1_add_4: argument 0"}
!10 = distinct !{!10, !"fused_computation_1_add_4"}
!11 = !{!12}
!12 = distinct !{!12, !13, !"fused_computation_1_add_4: argument 0"}
!13 = distinct !{!13, !"fused_computation_1_add_4"}
!14 = !{!15}
!15 = distinct !{!15, !7, !"multiply_copy_fusion_wrapped: argument 0"}
!16 = distinct !{!16, !17}
!17 = !{!"llvm.loop.unroll.disable"}
