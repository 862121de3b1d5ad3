// Checks JSON against docs/audit.schema.json: the keywords that stand there, no others.
#pragma once

#include <string>
#include <string_view>

namespace stile::audit {

// What is wrong with the line, or nothing.
[[nodiscard]] std::string schema_violation(std::string_view line);

}  // namespace stile::audit
