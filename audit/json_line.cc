// The keys in the order of docs/audit-log.md.
#include "audit/json_line.h"

#include "audit/format.h"

namespace stile::audit {
namespace {

// `key` brings its punctuation (`,"host":"`), so that one append does.
void append_text(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out += key;
  append_escaped(out, value.substr(0, max_field_bytes));
  out += '"';
}

void append_count(std::string& out, std::string_view key, std::uint64_t value) {
  out += key;
  append_number(out, value);
}

void append_nonzero(std::string& out, std::string_view key, std::uint64_t value) {
  if (value != 0) append_count(out, key, value);
}

// Header names of a hostile request can be many: the list as a whole is one field and cut as one.
void append_stripped(std::string& out, const std::vector<std::string_view>& names) {
  if (names.empty()) return;
  out += ",\"stripped\":[";
  std::size_t left = max_field_bytes;
  bool first = true;
  for (const std::string_view name : names) {
    if (name.size() > left) break;
    left -= name.size();
    out += first ? "\"" : ",\"";
    first = false;
    append_escaped(out, name);
    out += '"';
  }
  out += ']';
}

}  // namespace

std::size_t append_json(std::string& out, const Record& record, TimeText& time) {
  out += "{\"ts\":\"";
  time.append(out, record.time_us);
  out += "\",\"seq\":";
  const std::size_t number_at = out.size();
  append_text(out, ",\"event\":\"", text(record.event));
  append_text(out, ",\"agent\":\"", record.agent);
  append_text(out, ",\"src\":\"", record.src);
  append_nonzero(out, ",\"conn\":", record.conn);
  append_text(out, ",\"method\":\"", record.method);
  append_text(out, ",\"scheme\":\"", record.scheme);
  append_text(out, ",\"host\":\"", record.host);
  append_nonzero(out, ",\"port\":", record.port);
  append_text(out, ",\"path\":\"", record.path);
  if (record.verdict) append_text(out, ",\"verdict\":\"", acl::text(*record.verdict));
  if (record.reason != acl::Reason::none) {
    append_text(out, ",\"reason\":\"", acl::text(record.reason));
  }
  append_text(out, ",\"rule\":\"", record.rule);
  if (record.status > 0) {
    append_count(out, ",\"status\":", static_cast<std::uint64_t>(record.status));
  }
  append_text(out, ",\"origin\":\"", record.origin);
  append_text(out, ",\"sni\":\"", record.sni);
  if (record.bytes_up) append_count(out, ",\"bytes_up\":", *record.bytes_up);
  if (record.bytes_down) append_count(out, ",\"bytes_down\":", *record.bytes_down);
  if (record.duration_ms) append_count(out, ",\"duration_ms\":", *record.duration_ms);
  append_stripped(out, record.stripped);
  append_nonzero(out, ",\"count\":", record.count);
  append_nonzero(out, ",\"policy\":", record.policy);
  append_text(out, ",\"version\":\"", record.version);
  append_text(out, ",\"config\":\"", record.config);
  append_text(out, ",\"torn\":\"", record.torn);
  append_text(out, ",\"actor\":\"", record.actor);
  append_text(out, ",\"detail\":\"", record.detail);
  return number_at;
}

}  // namespace stile::audit
