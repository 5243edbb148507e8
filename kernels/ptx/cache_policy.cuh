// What L2 keeps longer than the rest (PTX ISA, "createpolicy", ".level::cache_hint").
#pragma once

typedef unsigned long long cache_policy_t;

__device__ __forceinline__ cache_policy_t policy_evict_last() {
  cache_policy_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void st_global_v4(float4* to, float4 v, cache_policy_t policy) {
  asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w), "l"(policy)
               : "memory");
}
