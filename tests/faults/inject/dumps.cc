// With STILE_FAULTS_DUMP in its environment the daemon can dump its core, so that a test can search
// it.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdarg>
#include <cstdlib>

#include "tests/faults/inject/board.h"

namespace {

using stile::faults::real;

bool may_dump() {
  static const bool told = std::getenv("STILE_FAULTS_DUMP") != nullptr;
  return told;
}

}  // namespace

extern "C" {

int prctl(int option, ...) noexcept {
  static auto* const next = real<int(int, ...)>("prctl");
  va_list arguments;
  va_start(arguments, option);
  unsigned long values[4];
  for (unsigned long& value : values) value = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (option == PR_SET_DUMPABLE && may_dump()) values[0] = 1;
  return next(option, values[0], values[1], values[2], values[3]);
}

int setrlimit(__rlimit_resource_t resource, const rlimit* limits) noexcept {
  static auto* const next = real<int(__rlimit_resource_t, const rlimit*)>("setrlimit");
  return resource == RLIMIT_CORE && may_dump() ? 0 : next(resource, limits);
}
}
