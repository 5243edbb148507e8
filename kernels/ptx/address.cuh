#pragma once
// Addresses as PTX instructions on shared memory take them (PTX ISA, section "cvta").

// The 32-bit address of `pointer` in the CTA's shared memory.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
