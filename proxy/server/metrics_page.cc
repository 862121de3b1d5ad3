// Server, the metrics page: the counters of all workers, combined.
#include <algorithm>
#include <map>
#include <optional>

#include "acl/regex_set.h"
#include "proxy/metrics/exposition.h"
#include "proxy/server/server.h"
#include "proxy/server/version.h"

namespace stile::server {
namespace {

using session::Report;

double number(std::uint64_t value) { return static_cast<double>(value); }

// The counters of all workers together.
struct Sums {
  using Series = std::array<std::string, 4>;  // agent, method, verdict, reason
  std::map<Series, std::uint64_t> requests;
  std::map<std::string, Report::Agent> agents;
  metrics::ConnectTimes times;
  dns::Counters dns;
};

void add(Report::Agent& sum, const Report::Agent& agent) {
  sum.tunnels_open += agent.tunnels_open;
  sum.connections_refused += agent.connections_refused;
  sum.bytes_up += agent.bytes_up;
  sum.bytes_down += agent.bytes_down;
  for (std::size_t side = 0; side < sum.tls_handshakes.size(); ++side) {
    sum.tls_handshakes[side][0] += agent.tls_handshakes[side][0];
    sum.tls_handshakes[side][1] += agent.tls_handshakes[side][1];
  }
  for (const auto& [name, count] : agent.secret_uses) sum.secret_uses[name] += count;
  for (const auto& [name, count] : agent.scan_hits) sum.scan_hits[name] += count;
}

Sums sum_up(const std::vector<Report>& reports) {
  Sums sums;
  for (const Report& report : reports) {
    for (const auto& series : report.requests) {
      sums.requests[{series.agent, std::string{metrics::text(series.method)},
                     std::string{acl::text(series.verdict)},
                     std::string{acl::text(series.reason)}}] += series.count;
    }
    for (const auto& agent : report.agents) {
      auto& sum = sums.agents.try_emplace(agent.id, Report::Agent{agent.id, 0, 0, 0, 0, {}, {}, {}})
                      .first->second;
      add(sum, agent);
    }
    for (std::size_t i = 0; i < sums.times.counts.size(); ++i) {
      sums.times.counts[i] += report.connect_times.counts[i];
    }
    sums.times.sum += report.connect_times.sum;
    sums.dns.cache_hits += report.dns.cache_hits;
    sums.dns.cache_misses += report.dns.cache_misses;
    sums.dns.answered += report.dns.answered;
    sums.dns.no_name += report.dns.no_name;
    sums.dns.failed += report.dns.failed;
    sums.dns.timed_out += report.dns.timed_out;
  }
  return sums;
}

void show_traffic(metrics::Exposition& page, const Sums& sums) {
  for (const auto& [key, count] : sums.requests) {
    page.counter("stile_requests_total", "Requests decided.", number(count),
                 {{"agent", key[0]}, {"method", key[1]}, {"verdict", key[2]}, {"reason", key[3]}});
  }
  for (const auto& [id, agent] : sums.agents) {
    page.gauge("stile_tunnels_open", "Tunnels open now.", number(agent.tunnels_open),
               {{"agent", id}});
    page.counter("stile_connections_refused_total", "Connections refused at accept.",
                 number(agent.connections_refused), {{"agent", id}});
    page.counter("stile_bytes_total", "Bytes relayed.", number(agent.bytes_up),
                 {{"agent", id}, {"direction", "up"}});
    page.counter("stile_bytes_total", "Bytes relayed.", number(agent.bytes_down),
                 {{"agent", id}, {"direction", "down"}});
  }
}

// TLS that ends here, secrets and scans.
void show_opened(metrics::Exposition& page, const Sums& sums) {
  for (const auto& [id, agent] : sums.agents) {
    constexpr std::array sides{"client", "origin"}, results{"failed", "ok"};
    for (std::size_t side = 0; side < sides.size(); ++side) {
      for (std::size_t result = 0; result < results.size(); ++result) {
        const std::uint64_t count = agent.tls_handshakes[side][result];
        if (count == 0) continue;
        page.counter("stile_tls_handshakes_total", "TLS handshakes of opened tunnels.",
                     number(count),
                     {{"agent", id}, {"side", sides[side]}, {"result", results[result]}});
      }
    }
    for (const auto& [name, count] : agent.secret_uses) {
      page.counter("stile_secret_uses_total", "Requests that a secret was put into.", number(count),
                   {{"agent", id}, {"secret", name}});
    }
    for (const auto& [name, count] : agent.scan_hits) {
      page.counter("stile_scan_hits_total", "Requests in which a scan found something.",
                   number(count), {{"agent", id}, {"scan", name}});
    }
  }
}

void show_dns(metrics::Exposition& page, const dns::Counters& dns) {
  page.counter("stile_dns_queries_total", "Look-ups by result.", number(dns.answered),
               {{"result", "ok"}});
  page.counter("stile_dns_queries_total", "", number(dns.no_name), {{"result", "no-name"}});
  page.counter("stile_dns_queries_total", "", number(dns.failed), {{"result", "failed"}});
  page.counter("stile_dns_queries_total", "", number(dns.timed_out), {{"result", "timeout"}});
  page.counter("stile_dns_cache_total", "Looks into the DNS cache.", number(dns.cache_hits),
               {{"result", "hit"}});
  page.counter("stile_dns_cache_total", "", number(dns.cache_misses), {{"result", "miss"}});
}

void show_agents(metrics::Exposition& page, const acl::Snapshot& snapshot) {
  for (const auto& agent : snapshot.agents()) {
    std::size_t rules = 0;
    for (const auto& set : agent->allow.sets) rules += set->size();
    for (const auto& set : agent->deny.sets) rules += set->size();
    page.gauge("stile_policy_rules", "Rules of an agent.", number(rules), {{"agent", agent->id}});
    page.gauge("stile_grants_active", "Grants in force.", number(agent->grants.size()),
               {{"agent", agent->id}});
    if (agent->account->bytes_up.is_limited()) {
      page.gauge("stile_budget_remaining_bytes", "What is left of a budget.",
                 static_cast<double>(agent->account->bytes_up.left()),
                 {{"agent", agent->id}, {"direction", "up"}});
    }
    if (agent->account->bytes_down.is_limited()) {
      page.gauge("stile_budget_remaining_bytes", "What is left of a budget.",
                 static_cast<double>(agent->account->bytes_down.left()),
                 {{"agent", agent->id}, {"direction", "down"}});
    }
  }
}

void show_host_budgets(metrics::Exposition& page, const acl::Snapshot& snapshot) {
  for (const auto& agent : snapshot.agents()) {
    // Hosts are no labels: the budget with the least left counts.
    std::optional<std::int64_t> requests_left, tokens_left;
    const auto lower = [](std::optional<std::int64_t>& least, std::int64_t left) {
      least = std::min(least.value_or(left), std::max<std::int64_t>(left, 0));
    };
    for (const acl::HostBudget& budget : agent->budgets) {
      const acl::HostUsage& usage = *budget.usage;
      if (budget.max_requests) lower(requests_left, usage.requests.left());
      if (budget.tokens) lower(tokens_left, usage.tokens.left() - usage.owed_tokens);
    }
    if (requests_left) {
      page.gauge("stile_budget_remaining_requests",
                 "What is left of max_requests, on the host with the least.",
                 static_cast<double>(*requests_left), {{"agent", agent->id}});
    }
    if (tokens_left) {
      page.gauge("stile_budget_remaining_tokens",
                 "What is left of tokens, on the host with the least.",
                 static_cast<double>(*tokens_left), {{"agent", agent->id}});
    }
  }
}

void show_asks(metrics::Exposition& page, const commands::AskService& all) {
  for (const auto& [id, count] : all.open_per_agent()) {
    page.gauge("stile_asks_open", "Asks that wait for a person.", number(count), {{"agent", id}});
  }
  for (const auto& [id, totals] : all.totals()) {
    const std::array<std::pair<const char*, std::uint64_t>, 4> results{
        {{"allow", totals.allowed},
         {"deny", totals.refused},
         {"expired", totals.expired},
         {"over-limit", totals.over_limit}}};
    for (const auto& [result, count] : results) {
      page.counter("stile_asks_total", "What became of asks.", number(count),
                   {{"agent", id}, {"result", result}});
    }
  }
  const auto answers = all.answer_times();
  page.histogram("stile_ask_answer_seconds", "From an ask to its answer.",
                 commands::AskService::AnswerTimes::bounds, answers.counts, answers.sum);
}

void show_fleet(metrics::Exposition& page, const commands::FleetView& fleet) {
  page.gauge("stile_fleet_connected", "1 while stile-fleet reaches its store.",
             fleet.is_connected ? 1 : 0);
  page.gauge("stile_fleet_age_seconds", "Since stile-fleet last heard from its store.",
             static_cast<double>(fleet.age_seconds));
  for (const auto& [name, serial] : fleet.serials) {
    page.gauge("stile_fleet_serial", "Serial of an object of the fleet.", number(serial),
               {{"name", name}});
  }
}

}  // namespace

void Server::collect_metrics(std::function<void(std::string)> done) {
  commands::gather<Report>(
      context_, workers_, session::report,
      [this, done = std::move(done)](const std::vector<Report>& reports) {
        done(reports.size() == workers_.size() ? exposition(reports) : std::string{});
      });
}

std::string Server::exposition(const std::vector<Report>& reports) const {
  const Sums sums = sum_up(reports);
  metrics::Exposition page;
  page.gauge("stile_build_info", "Always 1; the version is a label.", 1, {{"version", version}});
  show_traffic(page, sums);
  show_opened(page, sums);
  if (const auto* authority = opening_.authority()) {
    page.gauge("stile_ca_expiry_timestamp_seconds", "When the CA of opened tunnels ends.",
               static_cast<double>(authority->expires_s()));
  }
  page.gauge("stile_connections_open", "Client connections open now.",
             number(shared_->connections));
  page.histogram("stile_connect_duration_seconds",
                 "From the request to the open connection to the origin.", sums.times);
  show_dns(page, sums.dns);

  const auto& policy = editor_->policy();
  const auto& snapshot = *policy.snapshot();
  page.gauge("stile_policy_generation", "Number of the policy in force.",
             number(snapshot.generation()));
  show_agents(page, snapshot);
  show_host_budgets(page, snapshot);
  show_asks(page, asks_);
  page.counter("stile_policy_reloads_total", "Reloads by result.",
               number(editor_->counts().reloads_ok), {{"result", "ok"}});
  page.counter("stile_policy_reloads_total", "", number(editor_->counts().reloads_failed),
               {{"result", "error"}});
  page.gauge("stile_policy_last_reload_timestamp_seconds", "When the policy was read last.",
             static_cast<double>(editor_->counts().last_reload_s));
  page.counter("stile_policy_regex_failures_total", "Times that a set of regexes could not run.",
               number(acl::RegexSet::failures()));
  page.gauge("stile_cards_rejected", "Agent cards that could not be used.",
             number(policy.base().loaded.cards.rejected.size() + policy.refused_cards().size()));
  if (const auto fleet = service_ ? service_->fleet_view() : std::nullopt) show_fleet(page, *fleet);
  page.counter("stile_state_write_failures_total", "Times that the state could not be saved.",
               number(editor_->counts().save_failures));
  page.counter("stile_audit_events_total", "Audit lines written.", number(log_->events()));
  page.gauge("stile_audit_healthy", "0 while audit lines cannot be written.",
             log_->healthy() ? 1 : 0);
  page.counter("stile_audit_gaps_total", "Audit lines lost or torn.", number(log_->gaps()));
  page.process();
  return page.text();
}

}  // namespace stile::server
