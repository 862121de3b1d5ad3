// One Record as a JSON line, without its number and its link in the chain.
#pragma once

#include <cstddef>
#include <string>

#include "audit/record.h"
#include "audit/text.h"

namespace stile::audit {

// Appends {"ts":"…","seq": and then ,"event":… without the closing brace; returns the position in
// `out` where the number belongs.
std::size_t append_json(std::string& out, const Record& record, TimeText& time);

}  // namespace stile::audit
