; ModuleID = '__compute_module_dot_general.1_elemental_kernel_module'
source_filename = "__compute_module_dot_general.1_elemental_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem: none) uwtable
define noalias noundef ptr @dot_general.1_kernel(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
dot_general.1.loop_header.rhs.0.preheader:
  %args_gep = getelementptr inbounds nuw i8, ptr %0, i64 24
  %args = load ptr, ptr %args_gep, align 8
  %arg0 = load ptr, ptr %args, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %arg1_gep = getelementptr i8, ptr %args, i64 16
  %arg1 = load ptr, ptr %arg1_gep, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  %arg2_gep = getelementptr i8, ptr %args, i64 32
  %arg2 = load ptr, ptr %arg2_gep, align 8, !invariant.load !2, !dereferenceable !3, !align !4
  br label %dot_general.1.loop_body.reduction

dot_general.1.loop_body.reduction:                ; preds = %dot_general.1.loop_header.rhs.0.preheader, %dot_general.1.loop_body.reduction
  %dot_general.1.invar_address.reduction.011 = phi i64 [ 0, %dot_general.1.loop_header.rhs.0.preheader ], [ %invar.inc6, %dot_general.1.loop_body.reduction ]
  %accum_address.010 = phi float [ 0.000000e+00, %dot_general.1.loop_header.rhs.0.preheader ], [ %6, %dot_general.1.loop_body.reduction ]
  %1 = getelementptr inbounds nuw [4 x i8], ptr %arg0, i64 %dot_general.1.invar_address.reduction.011
  %2 = load float, ptr %1, align 4, !invariant.load !2, !noalias !5
  %3 = getelementptr inbounds nuw [4 x i8], ptr %arg1, i64 %dot_general.1.invar_address.reduction.011
  %4 = load float, ptr %3, align 4, !invariant.load !2, !noalias !5
  %5 = fmul float %2, %4
  %6 = fadd float %accum_address.010, %5
  %invar.inc6 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011, 1
  %exitcond = icmp eq i64 %invar.inc6, 3
  br i1 %exitcond, label %dot_general.1.loop_exit.reduction, label %dot_general.1.loop_body.reduction, !llvm.loop !8

dot_general.1.loop_exit.reduction:                ; preds = %dot_general.1.loop_body.reduction
  store float %6, ptr %arg2, align 64, !alias.scope !5
  %.split8.1 = getelementptr inbounds nuw i8, ptr %arg1, i64 12
  br label %dot_general.1.loop_body.reduction.1

dot_general.1.loop_body.reduction.1:              ; preds = %dot_general.1.loop_body.reduction.1, %dot_general.1.loop_exit.reduction
  %dot_general.1.invar_address.reduction.011.1 = phi i64 [ 0, %dot_general.1.loop_exit.reduction ], [ %invar.inc6.1, %dot_general.1.loop_body.reduction.1 ]
  %accum_address.010.1 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction ], [ %12, %dot_general.1.loop_body.reduction.1 ]
  %7 = getelementptr inbounds nuw [4 x i8], ptr %arg0, i64 %dot_general.1.invar_address.reduction.011.1
  %8 = load float, ptr %7, align 4, !invariant.load !2, !noalias !5
  %9 = getelementptr inbounds nuw [4 x i8], ptr %.split8.1, i64 %dot_general.1.invar_address.reduction.011.1
  %10 = load float, ptr %9, align 4, !invariant.load !2, !noalias !5
  %11 = fmul float %8, %10
  %12 = fadd float %accum_address.010.1, %11
  %invar.inc6.1 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.1, 1
  %exitcond.1 = icmp eq i64 %invar.inc6.1, 3
  br i1 %exitcond.1, label %dot_general.1.loop_exit.reduction.1, label %dot_general.1.loop_body.reduction.1, !llvm.loop !8

dot_general.1.loop_exit.reduction.1:              ; preds = %dot_general.1.loop_body.reduction.1
  %gep.1 = getelementptr inbounds nuw i8, ptr %arg2, i64 12
  store float %12, ptr %gep.1, align 4, !alias.scope !5
  %.split8.2 = getelementptr inbounds nuw i8, ptr %arg1, i64 24
  br label %dot_general.1.loop_body.reduction.2

dot_general.1.loop_body.reduction.2:              ; preds = %dot_general.1.loop_body.reduction.2, %dot_general.1.loop_exit.reduction.1
  %dot_general.1.invar_address.reduction.011.2 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.1 ], [ %invar.inc6.2, %dot_general.1.loop_body.reduction.2 ]
  %accum_address.010.2 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.1 ], [ %18, %dot_general.1.loop_body.reduction.2 ]
  %13 = getelementptr inbounds nuw [4 x i8], ptr %arg0, i64 %dot_general.1.invar_address.reduction.011.2
  %14 = load float, ptr %13, align 4, !invariant.load !2, !noalias !5
  %15 = getelementptr inbounds nuw [4 x i8], ptr %.split8.2, i64 %dot_general.1.invar_address.reduction.011.2
  %16 = load float, ptr %15, align 4, !invariant.load !2, !noalias !5
  %17 = fmul float %14, %16
  %18 = fadd float %accum_address.010.2, %17
  %invar.inc6.2 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.2, 1
  %exitcond.2 = icmp eq i64 %invar.inc6.2, 3
  br i1 %exitcond.2, label %dot_general.1.loop_exit.reduction.2, label %dot_general.1.loop_body.reduction.2, !llvm.loop !8

dot_general.1.loop_exit.reduction.2:              ; preds = %dot_general.1.loop_body.reduction.2
  %gep.2 = getelementptr inbounds nuw i8, ptr %arg2, i64 24
  store float %18, ptr %gep.2, align 8, !alias.scope !5
  %.split.1 = getelementptr inbounds nuw i8, ptr %arg0, i64 12
  %invariant.gep.1 = getelementptr inbounds nuw i8, ptr %arg2, i64 4
  br label %dot_general.1.loop_body.reduction.120

dot_general.1.loop_body.reduction.120:            ; preds = %dot_general.1.loop_body.reduction.120, %dot_general.1.loop_exit.reduction.2
  %dot_general.1.invar_address.reduction.011.116 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.2 ], [ %invar.inc6.118, %dot_general.1.loop_body.reduction.120 ]
  %accum_address.010.117 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.2 ], [ %24, %dot_general.1.loop_body.reduction.120 ]
  %19 = getelementptr inbounds nuw [4 x i8], ptr %.split.1, i64 %dot_general.1.invar_address.reduction.011.116
  %20 = load float, ptr %19, align 4, !invariant.load !2, !noalias !5
  %21 = getelementptr inbounds nuw [4 x i8], ptr %arg1, i64 %dot_general.1.invar_address.reduction.011.116
  %22 = load float, ptr %21, align 4, !invariant.load !2, !noalias !5
  %23 = fmul float %20, %22
  %24 = fadd float %accum_address.010.117, %23
  %invar.inc6.118 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.116, 1
  %exitcond.119 = icmp eq i64 %invar.inc6.118, 3
  br i1 %exitcond.119, label %dot_general.1.loop_exit.reduction.122, label %dot_general.1.loop_body.reduction.120, !llvm.loop !8

dot_general.1.loop_exit.reduction.122:            ; preds = %dot_general.1.loop_body.reduction.120
  store float %24, ptr %invariant.gep.1, align 4, !alias.scope !5
  br label %dot_general.1.loop_body.reduction.1.1

dot_general.1.loop_body.reduction.1.1:            ; preds = %dot_general.1.loop_body.reduction.1.1, %dot_general.1.loop_exit.reduction.122
  %dot_general.1.invar_address.reduction.011.1.1 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.122 ], [ %invar.inc6.1.1, %dot_general.1.loop_body.reduction.1.1 ]
  %accum_address.010.1.1 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.122 ], [ %30, %dot_general.1.loop_body.reduction.1.1 ]
  %25 = getelementptr inbounds nuw [4 x i8], ptr %.split.1, i64 %dot_general.1.invar_address.reduction.011.1.1
  %26 = load float, ptr %25, align 4, !invariant.load !2, !noalias !5
  %27 = getelementptr inbounds nuw [4 x i8], ptr %.split8.1, i64 %dot_general.1.invar_address.reduction.011.1.1
  %28 = load float, ptr %27, align 4, !invariant.load !2, !noalias !5
  %29 = fmul float %26, %28
  %30 = fadd float %accum_address.010.1.1, %29
  %invar.inc6.1.1 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.1.1, 1
  %exitcond.1.1 = icmp eq i64 %invar.inc6.1.1, 3
  br i1 %exitcond.1.1, label %dot_general.1.loop_exit.reduction.1.1, label %dot_general.1.loop_body.reduction.1.1, !llvm.loop !8

dot_general.1.loop_exit.reduction.1.1:            ; preds = %dot_general.1.loop_body.reduction.1.1
  %gep.1.1 = getelementptr inbounds nuw i8, ptr %arg2, i64 16
  store float %30, ptr %gep.1.1, align 16, !alias.scope !5
  br label %dot_general.1.loop_body.reduction.2.1

dot_general.1.loop_body.reduction.2.1:            ; preds = %dot_general.1.loop_body.reduction.2.1, %dot_general.1.loop_exit.reduction.1.1
  %dot_general.1.invar_address.reduction.011.2.1 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.1.1 ], [ %invar.inc6.2.1, %dot_general.1.loop_body.reduction.2.1 ]
  %accum_address.010.2.1 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.1.1 ], [ %36, %dot_general.1.loop_body.reduction.2.1 ]
  %31 = getelementptr inbounds nuw [4 x i8], ptr %.split.1, i64 %dot_general.1.invar_address.reduction.011.2.1
  %32 = load float, ptr %31, align 4, !invariant.load !2, !noalias !5
  %33 = getelementptr inbounds nuw [4 x i8], ptr %.split8.2, i64 %dot_general.1.invar_address.reduction.011.2.1
  %34 = load float, ptr %33, align 4, !invariant.load !2, !noalias !5
  %35 = fmul float %32, %34
  %36 = fadd float %accum_address.010.2.1, %35
  %invar.inc6.2.1 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.2.1, 1
  %exitcond.2.1 = icmp eq i64 %invar.inc6.2.1, 3
  br i1 %exitcond.2.1, label %dot_general.1.loop_exit.reduction.2.1, label %dot_general.1.loop_body.reduction.2.1, !llvm.loop !8

dot_general.1.loop_exit.reduction.2.1:            ; preds = %dot_general.1.loop_body.reduction.2.1
  %gep.2.1 = getelementptr inbounds nuw i8, ptr %arg2, i64 28
  store float %36, ptr %gep.2.1, align 4, !alias.scope !5
  %.split.2 = getelementptr inbounds nuw i8, ptr %arg0, i64 24
  %invariant.gep.2 = getelementptr inbounds nuw i8, ptr %arg2, i64 8
  br label %dot_general.1.loop_body.reduction.227

dot_general.1.loop_body.reduction.227:            ; preds = %dot_general.1.loop_body.reduction.227, %dot_general.1.loop_exit.reduction.2.1
  %dot_general.1.invar_address.reduction.011.223 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.2.1 ], [ %invar.inc6.225, %dot_general.1.loop_body.reduction.227 ]
  %accum_address.010.224 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.2.1 ], [ %42, %dot_general.1.loop_body.reduction.227 ]
  %37 = getelementptr inbounds nuw [4 x i8], ptr %.split.2, i64 %dot_general.1.invar_address.reduction.011.223
  %38 = load float, ptr %37, align 4, !invariant.load !2, !noalias !5
  %39 = getelementptr inbounds nuw [4 x i8], ptr %arg1, i64 %dot_general.1.invar_address.reduction.011.223
  %40 = load float, ptr %39, align 4, !invariant.load !2, !noalias !5
  %41 = fmul float %38, %40
  %42 = fadd float %accum_address.010.224, %41
  %invar.inc6.225 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.223, 1
  %exitcond.226 = icmp eq i64 %invar.inc6.225, 3
  br i1 %exitcond.226, label %dot_general.1.loop_exit.reduction.229, label %dot_general.1.loop_body.reduction.227, !llvm.loop !8

dot_general.1.loop_exit.reduction.229:            ; preds = %dot_general.1.loop_body.reduction.227
  store float %42, ptr %invariant.gep.2, align 8, !alias.scope !5
  br label %dot_general.1.loop_body.reduction.1.2

dot_general.1.loop_body.reduction.1.2:            ; preds = %dot_general.1.loop_body.reduction.1.2, %dot_general.1.loop_exit.reduction.229
  %dot_general.1.invar_address.reduction.011.1.2 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.229 ], [ %invar.inc6.1.2, %dot_general.1.loop_body.reduction.1.2 ]
  %accum_address.010.1.2 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.229 ], [ %48, %dot_general.1.loop_body.reduction.1.2 ]
  %43 = getelementptr inbounds nuw [4 x i8], ptr %.split.2, i64 %dot_general.1.invar_address.reduction.011.1.2
  %44 = load float, ptr %43, align 4, !invariant.load !2, !noalias !5
  %45 = getelementptr inbounds nuw [4 x i8], ptr %.split8.1, i64 %dot_general.1.invar_address.reduction.011.1.2
  %46 = load float, ptr %45, align 4, !invariant.load !2, !noalias !5
  %47 = fmul float %44, %46
  %48 = fadd float %accum_address.010.1.2, %47
  %invar.inc6.1.2 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.1.2, 1
  %exitcond.1.2 = icmp eq i64 %invar.inc6.1.2, 3
  br i1 %exitcond.1.2, label %dot_general.1.loop_exit.reduction.1.2, label %dot_general.1.loop_body.reduction.1.2, !llvm.loop !8

dot_general.1.loop_exit.reduction.1.2:            ; preds = %dot_general.1.loop_body.reduction.1.2
  %gep.1.2 = getelementptr inbounds nuw i8, ptr %arg2, i64 20
  store float %48, ptr %gep.1.2, align 4, !alias.scope !5
  br label %dot_general.1.loop_body.reduction.2.2

dot_general.1.loop_body.reduction.2.2:            ; preds = %dot_general.1.loop_body.reduction.2.2, %dot_general.1.loop_exit.reduction.1.2
  %dot_general.1.invar_address.reduction.011.2.2 = phi i64 [ 0, %dot_general.1.loop_exit.reduction.1.2 ], [ %invar.inc6.2.2, %dot_general.1.loop_body.reduction.2.2 ]
  %accum_address.010.2.2 = phi float [ 0.000000e+00, %dot_general.1.loop_exit.reduction.1.2 ], [ %54, %dot_general.1.loop_body.reduction.2.2 ]
  %49 = getelementptr inbounds nuw [4 x i8], ptr %.split.2, i64 %dot_general.1.invar_address.reduction.011.2.2
  %50 = load float, ptr %49, align 4, !invariant.load !2, !noalias !5
  %51 = getelementptr inbounds nuw [4 x i8], ptr %.split8.2, i64 %dot_general.1.invar_address.reduction.011.2.2
  %52 = load float, ptr %51, align 4, !invariant.load !2, !noalias !5
  %53 = fmul float %50, %52
  %54 = fadd float %accum_address.010.2.2, %53
  %invar.inc6.2.2 = add nuw nsw i64 %dot_general.1.invar_address.reduction.011.2.2, 1
  %exitcond.2.2 = icmp eq i64 %invar.inc6.2.2, 3
  br i1 %exitcond.2.2, label %dot_general.1.loop_exit.reduction.2.2, label %dot_general.1.loop_body.reduction.2.2, !llvm.loop !8

dot_general.1.loop_exit.reduction.2.2:            ; preds = %dot_general.1.loop_body.reduction.2.2
  %gep.2.2 = getelementptr inbounds nuw i8, ptr %arg2, i64 32
  store float %54, ptr %gep.2.2, align 32, !alias.scope !5
  ret ptr null
}

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem: none) uwtable "frame-pointer"="all" "prefer-vector-width"="256" }

!xla_cpu_memory_region_name = !{!0}
!llvm.module.flags = !{!1}

!0 = !{!"xla_cpu_emitter__dot_kernel_emitter__hlo_opcode__dot"}
!1 = !{i32 1, !"xla_dylib_index", i64 0}
!2 = !{}
!3 = !{i64 36}
!4 = !{i64 64}
!5 = !{!6}
!6 = !{!"result slice: {index:0, offset:0, size:36}", !7}
!7 = !{!"XLA host kernel dot_general.1_kernel AA domain"}
!8 = distinct !{!8, !9}
!9 = !{!"llvm.loop.unroll.disable"}
