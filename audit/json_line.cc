// The keys in the order of docs/audit-log.md.
#include "audit/json_line.h"

#include <algorithm>

#include "audit/format.h"
#include "base/appender.h"

namespace stile::audit {
namespace {

// `key` includes its punctuation (`,"host":"`), so that it is one piece. Inlined, since it is a
// constant of a few bytes.
[[gnu::always_inline]] inline void put_text(Appender& out, std::string_view key,
                                            std::string_view value) {
  if (value.empty()) return;
  out.plain(key);
  out.escaped(value.substr(0, max_field_bytes));
  out.plain("\"");
}

// A fixed word, which needs no escaping.
[[gnu::always_inline]] inline void put_word(Appender& out, std::string_view key,
                                            std::string_view word) {
  out.plain(key);
  out.plain(word);
  out.plain("\"");
}

[[gnu::always_inline]] inline void put_count(Appender& out, std::string_view key,
                                             std::uint64_t value) {
  out.plain(key);
  out.number(value);
}

[[gnu::always_inline]] inline void put_nonzero(Appender& out, std::string_view key,
                                               std::uint64_t value) {
  if (value != 0) put_count(out, key, value);
}

// A hostile request can have many header names: the list as a whole is one field with one limit.
void put_stripped(Appender& out, const std::vector<std::string_view>& names) {
  if (names.empty()) return;
  out.plain(",\"stripped\":[");
  std::size_t left = max_field_bytes;
  bool first = true;
  for (const std::string_view name : names) {
    if (name.size() > left) break;
    left -= name.size();
    out.plain(first ? "\"" : ",\"");
    first = false;
    out.escaped(name);
    out.plain("\"");
  }
  out.plain("]");
}

// The upper bound for the line of this record.
std::size_t room_for(const Record& record) {
  constexpr std::size_t keys_numbers_and_words = 1024;
  std::size_t bytes = 0;
  for (const std::string_view text :
       {record.agent, record.src, record.method, record.scheme, record.host, record.path,
        record.rule, record.origin, record.sni, record.tls, record.secret, record.scan,
        record.request, record.version, record.config, record.torn, record.actor, record.detail}) {
    bytes += std::min(text.size(), max_field_bytes);
  }
  if (!record.stripped.empty()) bytes += max_field_bytes + record.stripped.size();
  return keys_numbers_and_words + bytes * Appender::max_escape;
}

}  // namespace

std::size_t append_json(std::string& text_out, const Record& record, TimeText& time) {
  Appender out{text_out, room_for(record)};
  const TimeText::Text when = time(record.time_us);
  out.plain("{\"ts\":\"");
  out.plain({when.data(), when.size()});
  out.plain("\",\"seq\":");
  const std::size_t number_at = out.size();
  put_word(out, ",\"event\":\"", text(record.event));
  put_text(out, ",\"agent\":\"", record.agent);
  put_text(out, ",\"src\":\"", record.src);
  put_nonzero(out, ",\"conn\":", record.conn);
  put_text(out, ",\"method\":\"", record.method);
  put_text(out, ",\"scheme\":\"", record.scheme);
  put_text(out, ",\"host\":\"", record.host);
  put_nonzero(out, ",\"port\":", record.port);
  put_text(out, ",\"path\":\"", record.path);
  if (record.verdict) put_word(out, ",\"verdict\":\"", acl::text(*record.verdict));
  if (record.reason != acl::Reason::none) {
    put_word(out, ",\"reason\":\"", acl::text(record.reason));
  }
  put_text(out, ",\"rule\":\"", record.rule);
  if (record.status > 0) {
    put_count(out, ",\"status\":", static_cast<std::uint64_t>(record.status));
  }
  put_text(out, ",\"origin\":\"", record.origin);
  put_text(out, ",\"sni\":\"", record.sni);
  put_text(out, ",\"tls\":\"", record.tls);
  put_text(out, ",\"secret\":\"", record.secret);
  put_text(out, ",\"scan\":\"", record.scan);
  put_text(out, ",\"request\":\"", record.request);
  if (record.bytes_up) put_count(out, ",\"bytes_up\":", *record.bytes_up);
  if (record.bytes_down) put_count(out, ",\"bytes_down\":", *record.bytes_down);
  if (record.duration_ms) put_count(out, ",\"duration_ms\":", *record.duration_ms);
  put_stripped(out, record.stripped);
  put_nonzero(out, ",\"count\":", record.count);
  put_nonzero(out, ",\"policy\":", record.policy);
  put_text(out, ",\"version\":\"", record.version);
  put_text(out, ",\"config\":\"", record.config);
  put_text(out, ",\"torn\":\"", record.torn);
  put_text(out, ",\"actor\":\"", record.actor);
  put_text(out, ",\"detail\":\"", record.detail);
  return number_at;
}

}  // namespace stile::audit
