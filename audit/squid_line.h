// One Record as a line of squid's native access.log.
#pragma once

#include <string>

#include "audit/record.h"

namespace stile::audit {

// Appends the line of a finished request with its newline. Appends nothing for events that squid
// does not log (`open`: its request is not finished; policy, grant, start …).
void append_squid(std::string& out, const Record& record);

}  // namespace stile::audit
