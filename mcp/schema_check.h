// schema_check: whether a value fits a JSON schema of ours. Pure.
#pragma once

#include <string>

#include "base/json_value.h"

namespace stile::mcp {

// The first problem, for people and models: "worker: expected a string". Empty: the value fits.
// Knows the keywords that the schemas of our tools use: type, properties, required,
// additionalProperties (false or a schema), items, enum, const, minimum, maximum, minLength,
// maxLength, maxItems. Others are not checked.
[[nodiscard]] std::string schema_problem(const Json& schema, const Json& value);

}  // namespace stile::mcp
