// History: counts per minute and per host, and a ring of lines.
#include "web/history.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "audit/line.h"
#include "audit/text.h"
#include "base/ascii.h"
#include "base/json.h"

namespace stile::web {
namespace {

using audit::Key;

constexpr std::int64_t micros_in_a_minute = 60'000'000;
// A valid name is shorter; longer text of an agent is in the lines only.
constexpr std::size_t most_host_bytes = 255;

// As in an audit line: the bytes that an agent sent may be no UTF-8.
void add_text(JsonObject& object, std::string_view name, std::string_view bytes) {
  std::string& out = object.key(name);
  out += '"';
  audit::append_escaped(out, bytes);
  out += '"';
}

}  // namespace

History::Minute& History::minute_at(UnixMicros time) {
  const std::int64_t number = std::max<std::int64_t>(0, time / micros_in_a_minute);
  Minute& minute = ring_[static_cast<std::size_t>(number) % minutes];
  if (minute.number < number) minute = {number};
  return minute;
}

void History::add_bytes(UnixMicros now, std::uint64_t up, std::uint64_t down) {
  Minute& minute = minute_at(now);
  minute.up += up;
  minute.down += down;
}

History::HostRow* History::row_of(const std::string& agent, const std::string& host) {
  const auto known = agents_.find(agent);
  const bool is_full = row_count_ == max_host_rows;
  if (known == agents_.end() && (is_full || agents_.size() == max_agents)) return nullptr;
  HostRows& rows = known == agents_.end() ? agents_[agent] : known->second;
  if (const auto found = rows.find(host); found != rows.end()) return &found->second;
  if (is_full || rows.size() == max_hosts_per_agent) {
    rows.erase(std::min_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second.last < b.second.last;
    }));
    --row_count_;
  }
  ++row_count_;
  return &rows[host];
}

void History::count(const audit::Line& line, std::string_view event, UnixMicros time) {
  const auto verdict = line.raw(Key::verdict);
  const std::uint64_t times = std::max<std::uint64_t>(1, line.number(Key::count));
  const bool is_end = event == "close";
  if (event != "open" && event != "deny" && !is_end) return;
  if (!is_end) {
    // A line may arrive late; one of an older hour must not clear a newer minute.
    if (Minute& minute = minute_at(time); minute.number == time / micros_in_a_minute) {
      (verdict == "deny" ? minute.denied : minute.allowed) += times;
    }
  }
  const auto host = line.text(Key::host);
  if (host.empty() || host.size() > most_host_bytes) return;
  HostRow* row = row_of(line.text(Key::agent), host);
  if (row == nullptr) return;
  if (row->first == 0) row->first = time;
  row->last = std::max(row->last, time);
  if (is_end) {
    row->up += line.number(Key::bytes_up);
    row->down += line.number(Key::bytes_down);
  } else {
    (verdict == "deny"         ? row->denied
     : verdict == "would-deny" ? row->would_deny
                               : row->allowed) += times;
  }
  if (verdict != "allow") row->reason = line.text(Key::reason);
}

void History::add(std::string_view text) {
  audit::Line line;
  if (audit::read_line(text, line) != audit::LineKind::whole) return;
  const auto event = line.raw(Key::event);
  count(line, event, parse_time(line.raw(Key::ts)).value_or(0));
  // The end of what was allowed is no decision; its bytes were counted above.
  if (event == "close" && line.raw(Key::verdict) != "deny") return;
  shown_.push_back({std::string{text}, line.text(Key::agent), line.text(Key::verdict),
                    lower_case(line.text(Key::host))});
  shown_bytes_ += text.size();
  ++next_;
  while (shown_.size() > max_lines || shown_bytes_ > max_line_bytes) {
    shown_bytes_ -= shown_.front().line.size();
    shown_.pop_front();
  }
}

bool History::matches(const Shown& shown, const Filter& filter) {
  if (!filter.agent.empty() && shown.agent != filter.agent) return false;
  if (!filter.verdict.empty() && shown.verdict != filter.verdict) return false;
  if (filter.host_is_whole) return shown.host == filter.host;
  return shown.host.find(filter.host) != std::string::npos;
}

History::News History::lines_since(std::uint64_t from, const Filter& filter,
                                   std::size_t most) const {
  News news;
  const std::uint64_t oldest = next_ - shown_.size();
  if (from < oldest) news.skipped = oldest - from;
  std::vector<const Shown*> found;
  for (std::uint64_t number = std::max(from, oldest); number < next_; ++number) {
    const Shown& shown = shown_[static_cast<std::size_t>(number - oldest)];
    if (matches(shown, filter)) found.push_back(&shown);
  }
  news.count = std::min(found.size(), most);
  news.skipped += found.size() - news.count;
  for (std::size_t i = found.size() - news.count; i < found.size(); ++i) {
    if (!news.lines.empty()) news.lines += ',';
    news.lines += found[i]->line;
  }
  return news;
}

std::string History::strip_json(UnixMicros now) const {
  std::string out;
  {
    JsonArray array{out};
    const std::int64_t last = now / micros_in_a_minute;
    for (auto number = last - static_cast<std::int64_t>(minutes) + 1; number <= last; ++number) {
      const Minute& slot = ring_[static_cast<std::size_t>(number) % minutes];
      const Minute minute = slot.number == number ? slot : Minute{};
      JsonObject object{array.next()};
      object.add("t", number * 60).add("allowed", minute.allowed).add("denied", minute.denied);
      object.add("bytes_up", minute.up).add("bytes_down", minute.down);
    }
  }
  return out;
}

std::string History::hosts_json(const std::string& agent, const std::string& host) const {
  std::vector<std::tuple<UnixMicros, const std::string*, const std::string*, const HostRow*>> found;
  for (const auto& [id, rows] : agents_) {
    if (!agent.empty() && id != agent) continue;
    for (const auto& [name, row] : rows) {
      if (host.empty() || name == host) found.emplace_back(-row.last, &id, &name, &row);
    }
  }
  const auto shown = std::min(found.size(), max_rows);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), found.end());
  std::string out;
  {
    JsonObject object{out};
    object.add("total", found.size());
    JsonArray array{object.key("hosts")};
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& [time, id, name, row] = found[i];
      JsonObject one{array.next()};
      add_text(one, "agent", *id);
      add_text(one, "host", *name);
      one.add("allowed", row->allowed).add("denied", row->denied);
      one.add("would_deny", row->would_deny).add("bytes_up", row->up).add("bytes_down", row->down);
      one.add("first", time_text(row->first)).add("last", time_text(row->last));
      add_text(one, "reason", row->reason);
    }
  }
  return out;
}

}  // namespace stile::web
