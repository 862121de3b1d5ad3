// The fields of squid's access.log lines, one by one.
#include "audit/squid_fields.h"

#include "audit/format.h"
#include "audit/text.h"
#include "base/decimal.h"

namespace stile::audit {
namespace {

using acl::Reason;

bool is_timeout(Reason reason) {
  return reason == Reason::origin_timeout || reason == Reason::idle_timeout ||
         reason == Reason::header_timeout || reason == Reason::client_hello_timeout;
}

// squid has no access rule for this: the request was allowed, and the connection to the origin
// failed.
bool is_origin_failure(Reason reason) {
  return reason == Reason::dns_failure || reason == Reason::origin_unreachable ||
         reason == Reason::origin_timeout || reason == Reason::origin_bad_response;
}

bool is_no_request(Reason reason) {
  return reason == Reason::bad_request || reason == Reason::header_timeout ||
         reason == Reason::header_too_large;
}

void append_authority(std::string& out, const Record& record, std::uint16_t implied_port) {
  const bool is_v6 = record.host.find(':') != record.host.npos && !record.host.starts_with('[');
  if (is_v6) out += '[';
  append_word(out, record.host);
  if (is_v6) out += ']';
  if (record.port != 0 && record.port != implied_port) {
    out += ':';
    append_decimal(out, record.port);
  }
}

}  // namespace

void append_padded(std::string& out, std::uint64_t number, std::size_t width, char fill) {
  std::string digits;
  append_decimal(digits, number);
  if (digits.size() < width) out.append(width - digits.size(), fill);
  out += digits;
}

void append_word(std::string& out, std::string_view word) {
  if (word.empty()) {
    out += '-';
  } else {
    append_percent_escaped(out, word.substr(0, max_field_bytes));
  }
}

std::string_view address_of(std::string_view endpoint) {
  if (endpoint.starts_with('[')) return endpoint.substr(1, endpoint.find(']') - 1);
  const std::size_t colon = endpoint.find(':');
  const bool is_single = colon != endpoint.npos && endpoint.find(':', colon + 1) == endpoint.npos;
  return is_single ? endpoint.substr(0, colon) : endpoint;
}

void append_tag(std::string& out, const Record& record) {
  const bool is_tunnel = record.method == "CONNECT";
  if (record.event == Event::deny && is_no_request(record.reason)) {
    out += "NONE_NONE";
  } else if (record.event == Event::deny && !is_origin_failure(record.reason)) {
    out += "TCP_DENIED";
  } else {
    out += is_tunnel ? "TCP_TUNNEL" : "TCP_MISS";
  }
  if (is_timeout(record.reason)) {
    out += "_TIMEDOUT";
  } else if (record.event == Event::close && record.reason != Reason::none) {
    out += "_ABORTED";  // cut: revoked, budget spent, drained
  }
}

int status_of(const Record& record) {
  if (record.status > 0) return record.status;
  if (record.event == Event::deny) return acl::status(record.reason);
  return record.method == "CONNECT" ? 200 : 0;
}

void append_target(std::string& out, const Record& record) {
  if (record.host.empty() && record.event == Event::deny && record.count > 0) {
    out += "error:refused-";  // squid has no field for a number of requests
    append_decimal(out, record.count);
    out += "-times";
  } else if (record.host.empty()) {
    out += "error:invalid-request";
  } else if (record.method == "CONNECT") {
    append_authority(out, record, 0);
  } else {
    append_word(out, record.scheme.empty() ? "http" : record.scheme);
    out += "://";
    append_authority(out, record, 80);
    if (record.path.empty()) {
      out += '/';
    } else {
      append_word(out, record.path);
    }
  }
}

std::string_view hierarchy_of(const Record& record) {
  return record.origin.empty() ? "HIER_NONE" : "HIER_DIRECT";
}

std::string_view content_type_of(const Record& record) {
  return record.event == Event::deny ? "application/json" : "-";
}

}  // namespace stile::audit
