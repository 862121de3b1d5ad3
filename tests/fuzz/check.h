// CHECK for fuzz targets: what must hold for every input, in every build type.
#pragma once

#include <cstdio>
#include <cstdlib>

#define STILE_FUZZ_CHECK(condition)                                                       \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)
