// Writes heads from what was parsed: no raw bytes of a client or an origin are passed on. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/head.h"

namespace stile::http {

// Appends the head for the origin to `out`: the target in origin-form; Host first, from the
// authority that was decided on (canonical, `:port` unless it is 80); then the fields that are not
// hop-by-hop, not named by Connection and not stripped; then Via and the framing. Always HTTP/1.1,
// and the connection is meant to stay open.
// `strip_lower_case` names the fields to strip (`via`: ours is not added either). Those that were
// present are put into `stripped_names` (emptied first), once each and in the spelling of that
// list, which the views point into. `added` are fields that Stile sets itself.
void write_request_head(std::string& out, const RequestHead& head, const AbsoluteTarget& target,
                        std::string_view host_and_port, Framing framing,
                        std::span<const std::string> strip_lower_case,
                        std::vector<std::string_view>& stripped_names,
                        std::span<const Field> added = {});

// The fields of a request that write_request_head sends on.
[[nodiscard]] std::vector<Field> passed_fields(const RequestHead& head,
                                               std::span<const std::string> strip_lower_case);

// How the body of that answer goes to the client: an unknown length becomes chunks, or for HTTP/1.0
// the end of the connection.
[[nodiscard]] Framing framing_for_client(const ResponseHead& head, bool client_is_1_1) noexcept;

// Appends the head for the client to `out`. `framing` is framing_for_client(); with to_close the
// head says that the connection closes, also if `keep_alive` is true.
void write_response_head(std::string& out, const ResponseHead& head, Framing framing,
                         bool client_is_1_1, bool keep_alive);

// Appends the head of a 101 that the client asked for.
void write_upgraded_head(std::string& out, const ResponseHead& head);

// A name that equals a framing, hop-by-hop or stripped one only if `_` is read as `-`. An origin
// behind CGI would read it as that field, so such a request is refused as bad.
[[nodiscard]] bool has_smuggled_underscore_name(
    const RequestHead& head, std::span<const std::string> strip_lower_case) noexcept;

}  // namespace stile::http
