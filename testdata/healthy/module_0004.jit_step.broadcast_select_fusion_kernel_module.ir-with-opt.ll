; ModuleID = '__compute_module_broadcast_select_fusion_kernel_module'
source_filename = "__compute_module_broadcast_select_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable
define noalias noundef ptr @broadcast_select_fusion(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = load ptr, ptr %3, align 8, !invariant.load !3, !dereferenceable !4
  %5 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !3, !dereferenceable !5
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %8 = load ptr, ptr %7, align 8, !invariant.load !3, !dereferenceable !4
  tail call void @llvm.experimental.noalias.scope.decl(metadata !6)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !9)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !11)
  %9 = load i32, ptr %6, align 4, !invariant.load !3, !alias.scope !9, !noalias !13
  %.fr4 = freeze i32 %9
  %10 = icmp eq i32 %.fr4, 0
  br i1 %10, label %.preheader.us, label %.preheader

.preheader.us:                                    ; preds = %1, %.preheader.us
  %11 = phi i64 [ %23, %.preheader.us ], [ 0, %1 ]
  %12 = getelementptr [4 x i8], ptr %4, i64 %11
  %.idx1.us = mul nuw nsw i64 %11, 12
  %13 = getelementptr i8, ptr %8, i64 %.idx1.us
  %14 = load float, ptr %12, align 4, !invariant.load !3, !alias.scope !6, !noalias !14
  store float %14, ptr %13, align 4, !alias.scope !11, !noalias !15
  %15 = getelementptr i8, ptr %12, i64 12
  %16 = load float, ptr %15, align 4, !invariant.load !3, !alias.scope !6, !noalias !14
  %.not.us.us.1 = icmp eq i64 %11, 0
  %17 = select i1 %.not.us.us.1, float 0.000000e+00, float %16
  %18 = getelementptr i8, ptr %13, i64 4
  store float %17, ptr %18, align 4, !alias.scope !11, !noalias !15
  %19 = getelementptr i8, ptr %12, i64 24
  %20 = load float, ptr %19, align 4, !invariant.load !3, !alias.scope !6, !noalias !14
  %.not.us.us.2 = icmp samesign ult i64 %11, 2
  %21 = select i1 %.not.us.us.2, float 0.000000e+00, float %20
  %22 = getelementptr i8, ptr %13, i64 8
  store float %21, ptr %22, align 4, !alias.scope !11, !noalias !15
  %23 = add nuw nsw i64 %11, 1
  %exitcond7.not = icmp eq i64 %23, 3
  br i1 %exitcond7.not, label %broadcast_select_fusion_wrapped.exit, label %.preheader.us, !llvm.loop !16

.preheader:                                       ; preds = %1, %.preheader
  %24 = phi i64 [ %30, %.preheader ], [ 0, %1 ]
  %.idx1 = mul nuw nsw i64 %24, 12
  %25 = getelementptr i8, ptr %8, i64 %.idx1
  store float +qnan, ptr %25, align 4, !alias.scope !11, !noalias !15
  %.not.1 = icmp eq i64 %24, 0
  %26 = select i1 %.not.1, float 0.000000e+00, float +qnan
  %27 = getelementptr i8, ptr %25, i64 4
  store float %26, ptr %27, align 4, !alias.scope !11, !noalias !15
  %.not.2 = icmp samesign ult i64 %24, 2
  %28 = select i1 %.not.2, float 0.000000e+00, float +qnan
  %29 = getelementptr i8, ptr %25, i64 8
  store float %28, ptr %29, align 4, !alias.scope !11, !noalias !15
  %30 = add nuw nsw i64 %24, 1
  %exitcond.not = icmp eq i64 %30, 3
  br i1 %exitcond.not, label %broadcast_select_fusion_wrapped.exit, label %.preheader, !llvm.loop !16

broadcast_select_fusion_wrapped.exit:             ; preds = %.preheader, %.preheader.us
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #1

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 1}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 36}
!5 = !{i64 4}
!6 = !{!7}
!7 = distinct !{!7, !8, !"broadcast_select_fusion_wrapped: argument 0"}
!8 = distinct !{!8, !"broadcast_select_fusion_wrapped"}
!9 = !{!10}
!10 = distinct !{!10, !8, !"broadcast_select_fusion_wrapped: argument 1"}
!11 = !{!12}
!12 = distinct !{!12, !8, !"broadcast_select_fusion_wrapped: argument 2"}
!13 = !{!7, !12}
!14 = !{!10, !12}
!15 = !{!7, !10}
!16 = distinct !{!16, !17}
!17 = !{!"llvm.loop.unroll.disable"}
