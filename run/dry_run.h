// dry_run: what a command would see and be allowed, as text.
#pragma once

#include <ostream>

#include "confine/plan.h"
#include "run/launch.h"

namespace stile::run {

// Values of variables are not printed: they may be secrets.
void print_plan(const Launch& launch, const confine::View& view, std::ostream& out);

}  // namespace stile::run
