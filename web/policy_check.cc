// PolicyCheck: the same functions as `stile diff`.
#include "web/policy_check.h"

#include <algorithm>

#include "base/json.h"
#include "cli/judge.h"
#include "cli/replay.h"
#include "cli/rule_diff.h"
#include "config/compile.h"
#include "config/json_loader.h"

namespace stile::web {
namespace {

Result<std::shared_ptr<const acl::Snapshot>> compile(std::string_view text,
                                                     const config::CapabilityFiles& capabilities) {
  auto loaded = config::load_text(text, "the new config");
  if (!loaded) return Error{loaded.error().text()};
  auto shared = config::share(*loaded);
  shared.capabilities = capabilities;
  auto policies = config::compile_all(*loaded, shared);
  if (!policies) return Error{policies.error().text()};
  return std::make_shared<const acl::Snapshot>(1, std::move(*policies));
}

void add_rules(std::string& out, const std::vector<cli::AgentDiff>& diffs) {
  JsonArray list{out};
  for (const auto& diff : diffs) {
    JsonObject object{list.next()};
    object.add("agent", diff.agent)
        .add("kind", text(diff.kind))
        .add("allow_added", diff.allow_added)
        .add("allow_removed", diff.allow_removed)
        .add("deny_added", diff.deny_added)
        .add("deny_removed", diff.deny_removed);
    JsonArray settings{object.key("settings")};
    for (const auto& one : diff.settings) {
      JsonObject{settings.next()}
          .add("key", one.key)
          .add("before", one.before)
          .add("after", one.after);
    }
  }
}

void add_rows(JsonObject& object, std::string_view name, const std::vector<cli::ReplayRow>& rows) {
  JsonObject part{object.key(name)};
  part.add("total", rows.size());
  JsonArray list{part.key("rows")};
  for (std::size_t i = 0; i < std::min(rows.size(), PolicyCheck::max_rows); ++i) {
    JsonObject{list.next()}
        .add("agent", rows[i].agent)
        .add("target", rows[i].target)
        .add("count", rows[i].count)
        .add("before", rows[i].before.text())
        .add("after", rows[i].after.text())
        .add("rule", rows[i].after.rule);
  }
}

}  // namespace

Result<PolicyCheck> PolicyCheck::make(std::string_view before, std::string_view after,
                                      const config::CapabilityFiles& capabilities) {
  auto new_policies = compile(after, capabilities);
  if (!new_policies) return new_policies.error();
  auto old_policies = compile(before, capabilities);
  if (!old_policies) return Error{"the config in force: " + old_policies.error().message};
  return PolicyCheck{std::move(*old_policies), std::move(*new_policies)};
}

void PolicyCheck::add_line(std::string_view line) {
  if (seen_.targets().size() >= max_targets) {
    ++left_out_;
    return;
  }
  seen_.add_line(line);
}

bool PolicyCheck::refuses(const Cut& connection) const {
  const auto judge = cli::judge_of_config("", after_);
  // A connection does not tell whether it is a tunnel; it is cut if it could be neither.
  const auto passes = [&](acl::Scheme scheme) {
    const cli::SeenTarget target{connection.agent, "", scheme, connection.host,
                                 static_cast<std::uint16_t>(connection.port)};
    const auto judgement = judge.judge(target, {});
    return judgement && judgement->passes();
  };
  return !passes(acl::Scheme::tunnel) && !passes(acl::Scheme::http);
}

void PolicyCheck::add_connections(std::string_view answer) {
  const auto parsed = config::json_or_null(answer);
  for (const auto& one : parsed.list("connections")) {
    Cut connection{one.text("agent"), one.text("host"), one.number("port").value_or(0)};
    if (connection.port > 65535 || !refuses(connection)) continue;
    ++cut_count_;
    if (cut_.size() < max_rows) cut_.push_back(std::move(connection));
  }
}

std::string PolicyCheck::json() const {
  const auto replayed =
      cli::replay(seen_, cli::judge_of_config("", before_), cli::judge_of_config("", after_));
  static const cli::Replay nothing{};
  const auto& result = replayed ? *replayed : nothing;
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("valid", true);
    add_rules(object.key("rules"), cli::compare_rules(*before_, *after_));
    object.add("requests", result.requests)
        .add("targets", result.targets)
        .add("left_out", left_out_)
        .add("first", seen_.first())
        .add("last", seen_.last());
    add_rows(object, "allowed", result.allowed);
    add_rows(object, "refused", result.refused);
    add_rows(object, "noted", result.noted);
    JsonObject part{object.key("cut")};
    part.add("total", cut_count_);
    JsonArray list{part.key("rows")};
    for (const auto& one : cut_) {
      JsonObject{list.next()}.add("agent", one.agent).add("host", one.host).add("port", one.port);
    }
  }
  return out;
}

}  // namespace stile::web
