// Writes heads: which fields go on, and what a proxy adds.
#include "proxy/http/forward.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "proxy/http/fields.h"

namespace stile::http {
namespace {

// The options of all Connection fields. They name further hop-by-hop fields.
class ConnectionOptions {
 public:
  explicit ConnectionOptions(const std::vector<Field>& fields) noexcept {
    for (const Field& field : fields) {
      if (field_kind(field.name) != FieldKind::connection) continue;
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

void write_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void write_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void write_length(std::string& out, std::uint64_t length) {
  out.append("Content-Length: ");
  write_number(out, length);
  out.append("\r\n");
}

void write_framing(std::string& out, Framing framing, std::uint64_t length) {
  if (framing == Framing::length) write_length(out, length);
  if (framing == Framing::chunked) write_field(out, "Transfer-Encoding", "chunked");
}

// RFC 9110 7.6.3: one list; each proxy adds itself at the end, with the HTTP version of the message
// that it received.
class ViaWriter {
 public:
  explicit ViaWriter(std::string& out) noexcept : out_{out} {}
  void add(std::string_view value) {
    if (!value.empty()) list_.append(value).append(", ");
  }
  void write(int minor_version) {
    out_.append("Via: ")
        .append(list_)
        .append(minor_version == 0 ? "1.0" : "1.1")
        .append(" stile\r\n");
  }

 private:
  std::string& out_;
  std::string list_;
};

void write_origin_form(std::string& out, const RequestHead& head, const AbsoluteTarget& target) {
  if (head.method == "OPTIONS" && !target.has_path_or_query) {
    out.append("*");
    return;
  }
  if (target.path_and_query.front() == '?') out.append("/");
  out.append(target.path_and_query);
}

// Whether a field that is not stripped goes on.
bool goes_on(const Field& field, const RequestHead& head, const ConnectionOptions& ends_here) {
  const FieldKind kind = field_kind(field.name);
  if (is_framing(kind) || is_hop_by_hop(kind) || ends_here.name(field.name)) return false;
  return kind != FieldKind::expect || head.expects_continue;
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
  std::size_t most =
      out.size() + head.method.size() + target.path_and_query.size() + host_and_port.size() + 128;
  for (const Field& field : head.fields) most += field.name.size() + field.value.size() + 4;
  for (const Field& field : added) most += field.name.size() + field.value.size() + 4;
  out.reserve(most);
  out.append(head.method).append(" ");
  write_origin_form(out, head, target);
  out.append(" HTTP/1.1\r\n");
  write_field(out, "Host", host_and_port);

  const ConnectionOptions ends_here{head.fields};
  ViaWriter via{out};
  for (const Field& field : head.fields) {
    if (const std::string* name = find_name(strip_lower_case, field.name)) {
      if (std::find(stripped_names.begin(), stripped_names.end(), *name) == stripped_names.end()) {
        stripped_names.push_back(*name);
      }
      continue;
    }
    if (!goes_on(field, head, ends_here)) continue;
    if (field_kind(field.name) == FieldKind::via) {
      via.add(field.value);
    } else {
      write_field(out, field.name, field.value);
    }
  }
  for (const Field& field : added) write_field(out, field.name, field.value);
  if (find_name(strip_lower_case, "via") == nullptr) via.write(head.minor_version);
  write_framing(out, framing, head.content_length);
  out.append("\r\n");
}

Framing framing_for_client(const ResponseHead& head, bool client_is_1_1) noexcept {
  if (head.framing == Framing::none || head.framing == Framing::length) return head.framing;
  return client_is_1_1 ? Framing::chunked : Framing::to_close;
}

void write_response_head(std::string& out, const ResponseHead& head, Framing framing,
                         bool client_is_1_1, bool keep_alive) {
  out.append("HTTP/1.1 ");
  write_number(out, static_cast<std::uint64_t>(head.status));
  out.append(" ").append(head.phrase).append("\r\n");

  const ConnectionOptions ends_here{head.fields};
  ViaWriter via{out};
  for (const Field& field : head.fields) {
    const FieldKind kind = field_kind(field.name);
    if (is_framing(kind) || is_hop_by_hop(kind) || ends_here.name(field.name)) continue;
    if (kind == FieldKind::via) {
      via.add(field.value);
    } else {
      write_field(out, field.name, field.value);
    }
  }
  via.write(head.minor_version);

  const bool is_interim = head.status < 200;
  if (framing == Framing::none) {
    // Answers to HEAD and 304 give the length of a body that is not sent. In 1xx and 204 a length
    // is forbidden (RFC 9110 8.6), and some clients would wait for that many bytes.
    if (head.has_content_length && !is_interim && head.status != 204) {
      write_length(out, head.content_length);
    }
  } else {
    write_framing(out, framing, head.content_length);
  }
  if (!is_interim) {
    const bool stays_open = keep_alive && framing != Framing::to_close;
    if (!stays_open) write_field(out, "Connection", "close");
    if (stays_open && !client_is_1_1) write_field(out, "Connection", "keep-alive");
  }
  out.append("\r\n");
}

void write_upgraded_head(std::string& out, const ResponseHead& head) {
  out.append("HTTP/1.1 101 ").append(head.phrase).append("\r\n");
  write_field(out, "Connection", "Upgrade");
  write_field(out, "Upgrade", "websocket");
  for (const Field& field : head.fields) {
    const FieldKind kind = field_kind(field.name);
    if (!is_framing(kind) && !is_hop_by_hop(kind)) write_field(out, field.name, field.value);
  }
  out.append("\r\n");
}

bool has_smuggled_underscore_name(const RequestHead& head,
                                  std::span<const std::string> strip_lower_case) noexcept {
  return std::any_of(head.fields.begin(), head.fields.end(), [&](const Field& field) {
    if (field.name.find('_') == std::string_view::npos) return false;
    if (find_name(strip_lower_case, field.name) != nullptr) return false;  // stripped anyway
    return field_kind(field.name) != FieldKind::end_to_end ||
           std::any_of(strip_lower_case.begin(), strip_lower_case.end(),
                       [&](const std::string& name) { return equals_folded(name, field.name); });
  });
}

}  // namespace stile::http
