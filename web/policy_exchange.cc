// PolicyExchange: the config in force, then the log line by line, then the open connections.
#include "web/policy_exchange.h"

#include <utility>

#include "base/json.h"
#include "config/json_loader.h"
#include "control/client.h"
#include "web/control_request.h"

namespace stile::web {
namespace {

constexpr std::string_view end_of_log = R"({"event":"end"})";

}  // namespace

void PolicyExchange::fail(unsigned status, std::string_view code, std::string_view message) {
  client_->answer(error_answer(status, code, message));
}

void PolicyExchange::start(std::string_view body) {
  const auto text = text_member(body, "text");
  if (!text) return fail(400, "bad-request", text.error().message);
  text_ = *text;
  daemon_.ask(R"({"action":"config"})",
              [self = shared_from_this()](const std::optional<std::string>& answer) {
                if (!answer || !control::is_ok(*answer)) {
                  return self->fail(502, "no-daemon", "the daemon does not answer; is it running?");
                }
                self->compare(*answer);
              });
}

void PolicyExchange::compare(const std::string& answer) {
  const auto parsed = config::parse_json(answer, "");
  if (!parsed) return fail(502, "no-daemon", "the daemon gave an unknown answer");
  auto made = PolicyCheck::make(parsed->text("text"), text_, capabilities_);
  if (!made) {
    std::string out;
    JsonObject{out}.add("ok", true).add("valid", false).add("problems", made.error().message);
    return client_->answer({200, json_type, std::move(out)});
  }
  check_ = std::move(*made);
  read_log();
}

// Whether more lines are wanted.
bool PolicyExchange::take_line(std::string_view line) {
  if (!std::exchange(has_begun_, true)) return line.starts_with(R"({"ok":true)");
  if (line == end_of_log) {
    is_complete_ = true;
    return false;
  }
  bytes_ += line.size();
  check_->add_line(line);
  return bytes_ < max_log_bytes && !client_->has_gone();
}

void PolicyExchange::read_log() {
  client_->watch();
  daemon_.read(R"({"action":"log"})",
               [self = shared_from_this()](std::string_view line) { return self->take_line(line); },
               [self = shared_from_this()] { self->read_connections(); });
}

void PolicyExchange::read_connections() {
  if (client_->has_gone()) return client_->end();
  daemon_.ask(R"({"action":"connections"})",
              [self = shared_from_this()](const std::optional<std::string>& answer) {
                if (answer) self->check_->add_connections(*answer);
                auto text = self->check_->json();
                text.insert(text.size() - 1,
                            self->is_complete_ ? R"(,"whole_log":true)" : R"(,"whole_log":false)");
                self->client_->answer({200, json_type, std::move(text)});
              });
}

}  // namespace stile::web
