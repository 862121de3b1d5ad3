// The fields of squid's access.log lines, one by one.
#pragma once

#include <string>
#include <string_view>

#include "audit/record.h"

namespace stile::audit {

void append_padded(std::string& out, std::uint64_t number, std::size_t width, char fill);
// One word: escaped, cut, `-` for none.
void append_word(std::string& out, std::string_view word);
// "10.0.0.7:3456" and "[::1]:3456" without the port; a bare address is not changed.
[[nodiscard]] std::string_view address_of(std::string_view endpoint);
// "TCP_TUNNEL", "TCP_DENIED", "TCP_MISS_ABORTED" …
void append_tag(std::string& out, const Record& record);
[[nodiscard]] int status_of(const Record& record);
// The URL as squid logs it; for CONNECT host:port.
void append_target(std::string& out, const Record& record);
// "HIER_DIRECT" or "HIER_NONE".
[[nodiscard]] std::string_view hierarchy_of(const Record& record);
// The content type, which is known only for a refusal.
[[nodiscard]] std::string_view content_type_of(const Record& record);

}  // namespace stile::audit
