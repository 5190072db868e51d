// Two CPU kernels for the suite, called through XLA's typed FFI. Both take one f32
// array and give one of the same size.

#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// Scale doubles each element where it stands: safe in place.
static ffi::Error Scale(ffi::Buffer<ffi::F32> in, ffi::ResultBuffer<ffi::F32> out) {
  for (int64_t i = 0; i < static_cast<int64_t>(in.element_count()); ++i) {
    out->typed_data()[i] = 2 * in.typed_data()[i];
  }
  return ffi::Error::Success();
}

// Reverse turns the array round. In place, its second half reads what the first
// half has written.
static ffi::Error Reverse(ffi::Buffer<ffi::F32> in, ffi::ResultBuffer<ffi::F32> out) {
  const int64_t n = static_cast<int64_t>(in.element_count());
  for (int64_t i = 0; i < n; ++i) {
    out->typed_data()[i] = in.typed_data()[n - 1 - i];
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(SuiteScale, Scale,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(SuiteReverse, Reverse,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
