// Notices: what `stile notify` tells, gathered and in the form of a webhook.
#include "cli/notices.h"

#include <algorithm>

#include "base/quoted.h"
#include "base/random.h"
#include "base/units.h"

namespace stile::cli {
namespace {

// Of what was asked: the method if it matters, never the path, which may carry anything.
std::string wanted_in_public(const Json& ask) {
  const auto scheme = text_of(ask, "scheme"), reason = text_of(ask, "reason");
  std::string text = text_of(ask, "host") + ':' + text_of(ask, "port");
  if (scheme != "connect") text.insert(0, scheme + "://");
  if (reason == "method-not-allowed" || reason == "path-not-allowed") {
    text = text_of(ask, "method") + ' ' + text + " (one request)";
  }
  return printable(text);
}

std::string id_of_number(std::uint64_t number) { return std::to_string(number); }

// Slack reads three characters as markup; a backquote would end the text as code, and a name
// outside of code becomes a link that Slack itself may fetch.
std::string as_slack_code(const std::string& text) {
  std::string out = "`";
  for (const char one : text) {
    if (one == '&') {
      out += "&amp;";
    } else if (one == '<') {
      out += "&lt;";
    } else if (one == '>') {
      out += "&gt;";
    } else {
      out += one == '`' ? '\'' : one;
    }
  }
  return out + '`';
}

std::string all_lines(const Message& message, bool is_slack) {
  std::string text;
  for (const Notice& notice : message.notices) {
    if (!text.empty()) text += '\n';
    text += is_slack ? as_slack_code(notice.text) : notice.text;
  }
  return text;
}

bool has_ask(const Message& message) {
  return std::any_of(message.notices.begin(), message.notices.end(),
                     [](const Notice& notice) { return notice.kind == "ask"; });
}

std::string json_body(const Message& message) {
  Json events = Json::list();
  for (const Notice& notice : message.notices) {
    Json event{
        {"id", notice.id}, {"kind", notice.kind}, {"agent", notice.agent}, {"text", notice.text}};
    if (!notice.detail.is_null()) event.set("detail", notice.detail);
    events.add(std::move(event));
  }
  return dump({{"source", "stile"}, {"id", message.id}, {"events", events}});
}

}  // namespace

WrittenMessage write_message(const Message& message, WebhookFormat format) {
  WrittenMessage written;
  written.headers = {{"Idempotency-Key", message.id}};
  switch (format) {
    case WebhookFormat::json:
      written.headers.emplace_back("Content-Type", "application/json");
      written.body = json_body(message);
      break;
    case WebhookFormat::slack:
      written.headers.emplace_back("Content-Type", "application/json");
      written.body = dump(
          {{"text", all_lines(message, true)}, {"unfurl_links", false}, {"unfurl_media", false}});
      break;
    case WebhookFormat::ntfy:
      written.headers.emplace_back("Content-Type", "text/plain");
      written.headers.emplace_back("Title", has_ask(message) ? "Stile: an agent asks" : "Stile");
      written.headers.emplace_back("Priority", has_ask(message) ? "high" : "default");
      written.body = all_lines(message, false);
      break;
  }
  return written;
}

void Notices::add(Notice notice, Time now) {
  if (waiting_.size() >= max_waiting) {
    ++left_out_;
    return;
  }
  if (waiting_.empty()) first_ = now;
  waiting_.push_back(std::move(notice));
}

void Notices::add_ask(const Json& ask, Time now) {
  const auto id = text_of(ask, "id");
  if (known_asks_.size() >= max_known) known_asks_.clear();
  if (id.empty() || !known_asks_.insert(id).second) return;
  Notice notice;
  notice.id = "ask-" + printable(id);
  notice.kind = "ask";
  notice.agent = printable(text_of(ask, "agent"));
  notice.text =
      notice.agent + " asks for " + wanted_in_public(ask) + "; stile approve " + printable(id);
  if (const auto like = text_of(ask, "looks_like"); !like.empty()) {
    notice.text += "; take care: it looks like " + printable(like);
  }
  notice.detail = {{"ask", id},
                   {"host", text_of(ask, "host")},
                   {"port", number_of(ask, "port")},
                   {"scheme", text_of(ask, "scheme")},
                   {"reason", text_of(ask, "reason")},
                   {"expires", text_of(ask, "expires")}};
  add(std::move(notice), now);
}

void Notices::take_asks(const Json& asks, Time now) {
  for (const Json& ask : asks) add_ask(ask, now);
}

void Notices::take_ask_event(const Json& event, Time now) {
  if (text_of(event, "event") == "ask") add_ask(object_of(event, "ask"), now);
}

void Notices::take_denial(const std::string& agent, const std::string& reason, std::uint64_t count,
                          Time now) {
  if (denials_.size() >= max_known) denials_.clear();
  Denials& denials = denials_[agent];
  if (denials.reasons.empty() || now - denials.since >= denial_window) {
    denials = {now, {}, false};
  }
  denials.reasons[reason] += count;
  std::uint64_t total = 0;
  for (const auto& [name, number] : denials.reasons) total += number;
  if (denials.is_told || total < many_denials) return;
  denials.is_told = true;
  Notice notice;
  notice.id = "denials-" + random_hex(6);
  notice.kind = "denials";
  notice.agent = printable(agent);
  notice.text = notice.agent + " was refused " + id_of_number(total) + " times within a minute:";
  for (const auto& [name, number] : denials.reasons) {
    notice.text += ' ' + printable(name) + ' ' + id_of_number(number);
  }
  add(std::move(notice), now);
}

void Notices::look_at_budget(const std::string& id, const std::string& name, const Json& budget,
                             AmountText amount, Time now) {
  const auto total = number_of(budget, "total"), left = number_of(budget, "left");
  const auto key = id + ' ' + name;
  if (total == 0 || left > total / 10) {
    low_budgets_.erase(key);  // the budget was reset
    return;
  }
  if (!low_budgets_.insert(key).second) return;
  Notice notice;
  notice.id = "budget-" + random_hex(6);
  notice.kind = "budget";
  notice.agent = printable(id);
  notice.text =
      notice.agent + " has " + amount(left) + " left of " + amount(total) + ' ' + printable(name);
  notice.detail = {{"budget", printable(name)}, {"left", left}, {"total", total}};
  add(std::move(notice), now);
}

void Notices::take_agents(const Json& agents, Time now) {
  if (low_budgets_.size() >= max_known) low_budgets_.clear();
  for (const Json& agent : agents) {
    const std::string id = text_of(agent, "id");
    const Json& budgets = object_of(agent, "budgets");
    for (const char* name : {"bytes_up", "bytes_down"}) {
      look_at_budget(id, name, object_of(budgets, name), bytes_text, now);
    }
    for (const Json& budget : list_of(agent, "host_budgets")) {
      for (const char* name : {"max_requests", "tokens"}) {
        look_at_budget(id, name + (" on " + text_of(budget, "host")), object_of(budget, name),
                       id_of_number, now);
      }
    }
  }
}

std::optional<Message> Notices::due(Time now) {
  if (waiting_.empty() || now - first_ < gather_time) return std::nullopt;
  Message message{random_hex(8), {waiting_.begin(), waiting_.end()}};
  waiting_.clear();
  if (left_out_ > 0) {
    message.notices.push_back(
        {"more-" + message.id, "more", "", "and " + id_of_number(left_out_) + " more", Json{}});
    left_out_ = 0;
  }
  return message;
}

}  // namespace stile::cli
