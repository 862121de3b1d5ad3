// Writes heads: which fields go on, and what a proxy adds.
#include "proxy/http/forward.h"

#include <algorithm>
#include <array>

#include "base/appender.h"
#include "base/ascii.h"

namespace stile::http {
namespace {

// The options of all Connection fields. They name further hop-by-hop fields.
class ConnectionOptions {
 public:
  explicit ConnectionOptions(const std::vector<Field>& fields) noexcept {
    for (const Field& field : fields) {
      if (field.kind != FieldKind::connection) continue;
      // The parser refuses longer lists; one from elsewhere is truncated, never overrun.
      static_cast<void>(for_each_option(field.value, [this](std::string_view option) {
        if (count_ == options_.size()) return false;
        options_[count_++] = option;
        return true;
      }));
    }
  }

  [[nodiscard]] bool name(std::string_view field) const noexcept {
    return std::any_of(
        options_.begin(), options_.begin() + count_,
        [field](std::string_view option) { return equal_ignoring_case(option, field); });
  }

 private:
  std::array<std::string_view, max_connection_options> options_;
  std::size_t count_ = 0;
};

const std::string* find_name(std::span<const std::string> names, std::string_view name) noexcept {
  const auto found = std::find_if(names.begin(), names.end(), [name](const std::string& candidate) {
    return equal_ignoring_case(candidate, name);
  });
  return found == names.end() ? nullptr : &*found;
}

// The bytes that a head gets beside its fields, its first line and Host: names, blanks, two
// numbers.
constexpr std::size_t added_bytes = 192;

std::size_t size_of(std::span<const Field> fields) noexcept {
  std::size_t bytes = 0;
  for (const Field& field : fields) bytes += field.name.size() + field.value.size() + 4;
  return bytes;
}

void write_field(Appender& out, std::string_view name, std::string_view value) {
  out.plain(name);
  out.plain(": ");
  out.plain(value);
  out.plain("\r\n");
}

void write_length(Appender& out, std::uint64_t length) {
  out.plain("Content-Length: ");
  out.number(length);
  out.plain("\r\n");
}

void write_framing(Appender& out, Framing framing, std::uint64_t length) {
  if (framing == Framing::length) write_length(out, length);
  if (framing == Framing::chunked) out.plain("Transfer-Encoding: chunked\r\n");
}

// RFC 9110 7.6.3: one list; each proxy adds itself at the end, with the HTTP version of the message
// that it received.
void write_via(Appender& out, const std::vector<Field>& fields, const ConnectionOptions& ends_here,
               int minor_version) {
  out.plain("Via: ");
  for (const Field& field : fields) {
    if (field.kind != FieldKind::via || field.value.empty() || ends_here.name(field.name)) continue;
    out.plain(field.value);
    out.plain(", ");
  }
  out.plain(minor_version == 0 ? "1.0 stile\r\n" : "1.1 stile\r\n");
}

void write_origin_form(Appender& out, const RequestHead& head, const AbsoluteTarget& target) {
  if (head.method == "OPTIONS" && !target.has_path_or_query) return out.plain("*");
  if (target.path_and_query.front() == '?') out.plain("/");
  out.plain(target.path_and_query);
}

bool ends_at_proxy(const Field& field) noexcept {
  return is_framing(field.kind) || is_hop_by_hop(field.kind);
}

// Whether a field that is not stripped goes on.
bool goes_on(const Field& field, const RequestHead& head, const ConnectionOptions& ends_here) {
  if (ends_at_proxy(field) || ends_here.name(field.name)) return false;
  return field.kind != FieldKind::expect || head.expects_continue;
}

}  // namespace

std::vector<Field> passed_fields(const RequestHead& head,
                                 std::span<const std::string> strip_lower_case) {
  const ConnectionOptions ends_here{head.fields};
  std::vector<Field> passed;
  passed.reserve(head.fields.size());
  for (const Field& field : head.fields) {
    if (find_name(strip_lower_case, field.name) == nullptr && goes_on(field, head, ends_here)) {
      passed.push_back(field);
    }
  }
  return passed;
}

void write_request_head(std::string& out, const RequestHead& head, const AbsoluteTarget& target,
                        std::string_view host_and_port, Framing framing,
                        std::span<const std::string> strip_lower_case,
                        std::vector<std::string_view>& stripped_names,
                        std::span<const Field> added) {
  stripped_names.clear();
  // Room for all of it: what is added can be a secret, and a text that grows leaves copies in
  // memory.
  Appender to{out, head.method.size() + target.path_and_query.size() + host_and_port.size() +
                       size_of(head.fields) + size_of(added) + added_bytes};
  to.plain(head.method);
  to.plain(" ");
  write_origin_form(to, head, target);
  to.plain(" HTTP/1.1\r\n");
  write_field(to, "Host", host_and_port);

  const ConnectionOptions ends_here{head.fields};
  for (const Field& field : head.fields) {
    if (const std::string* name = find_name(strip_lower_case, field.name)) {
      if (std::find(stripped_names.begin(), stripped_names.end(), *name) == stripped_names.end()) {
        stripped_names.push_back(*name);
      }
    } else if (field.kind != FieldKind::via && goes_on(field, head, ends_here)) {
      write_field(to, field.name, field.value);
    }
  }
  for (const Field& field : added) write_field(to, field.name, field.value);
  if (find_name(strip_lower_case, "via") == nullptr) {
    write_via(to, head.fields, ends_here, head.minor_version);
  }
  write_framing(to, framing, head.content_length);
  to.plain("\r\n");
}

Framing framing_for_client(const ResponseHead& head, bool client_is_1_1) noexcept {
  if (head.framing == Framing::none || head.framing == Framing::length) return head.framing;
  return client_is_1_1 ? Framing::chunked : Framing::to_close;
}

void write_response_head(std::string& out, const ResponseHead& head, Framing framing,
                         bool client_is_1_1, bool keep_alive) {
  Appender to{out, head.phrase.size() + size_of(head.fields) + added_bytes};
  to.plain("HTTP/1.1 ");
  to.number(static_cast<std::uint64_t>(head.status));
  to.plain(" ");
  to.plain(head.phrase);
  to.plain("\r\n");

  const ConnectionOptions ends_here{head.fields};
  for (const Field& field : head.fields) {
    if (field.kind == FieldKind::via || ends_at_proxy(field) || ends_here.name(field.name))
      continue;
    write_field(to, field.name, field.value);
  }
  write_via(to, head.fields, ends_here, head.minor_version);

  const bool is_interim = head.status < 200;
  if (framing == Framing::none) {
    // Answers to HEAD and 304 give the length of a body that is not sent. In 1xx and 204 a length
    // is forbidden (RFC 9110 8.6), and some clients would wait for that many bytes.
    if (head.has_content_length && !is_interim && head.status != 204) {
      write_length(to, head.content_length);
    }
  } else {
    write_framing(to, framing, head.content_length);
  }
  if (!is_interim) {
    const bool stays_open = keep_alive && framing != Framing::to_close;
    if (!stays_open) to.plain("Connection: close\r\n");
    if (stays_open && !client_is_1_1) to.plain("Connection: keep-alive\r\n");
  }
  to.plain("\r\n");
}

void write_upgraded_head(std::string& out, const ResponseHead& head) {
  Appender to{out, head.phrase.size() + size_of(head.fields) + added_bytes};
  to.plain("HTTP/1.1 101 ");
  to.plain(head.phrase);
  to.plain("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n");
  for (const Field& field : head.fields) {
    if (!ends_at_proxy(field)) write_field(to, field.name, field.value);
  }
  to.plain("\r\n");
}

bool has_smuggled_underscore_name(const RequestHead& head,
                                  std::span<const std::string> strip_lower_case) noexcept {
  return std::any_of(head.fields.begin(), head.fields.end(), [&](const Field& field) {
    if (field.name.find('_') == std::string_view::npos) return false;
    if (find_name(strip_lower_case, field.name) != nullptr) return false;  // stripped anyway
    return field.kind != FieldKind::end_to_end ||
           std::any_of(strip_lower_case.begin(), strip_lower_case.end(),
                       [&](const std::string& name) { return equals_folded(name, field.name); });
  });
}

}  // namespace stile::http
