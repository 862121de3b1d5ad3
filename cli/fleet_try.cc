// fleet_try: a candidate is signed under another name than the policy, so that no host applies it.
#include "cli/fleet_try.h"

#include <iostream>
#include <set>
#include <thread>

#include "base/json_value.h"
#include "base/table.h"
#include "cli/command.h"
#include "fleet/ledger.h"
#include "fleet/settings.h"

namespace stile::cli {
namespace {

constexpr UnixMicros candidate_life = 600'000'000;
constexpr std::chrono::milliseconds look_interval{200};

int try_failure(const std::string& message) {
  std::cerr << "stile fleet: " << message << "\n  next: stile fleet status\n";
  return failed;
}

std::set<std::string> hosts_for(const fleet::Envelope& candidate, const fleet::Overview& overview) {
  std::set<std::string> hosts;
  for (const auto& [host, text] : overview.hosts) {
    const Json entry = Json::parse(text);
    std::vector<std::string> labels;
    for (const auto& label : list_of(entry, "labels")) labels.push_back(label.text());
    if (fleet::applies_to(candidate, host, labels)) hosts.insert(host);
  }
  return hosts;
}

void print_examples(const Json& result, const char* key, const char* title) {
  for (const auto& one : list_of(result, key)) {
    std::cout << "    " << title << ' ' << Cell{text_of(one, "agent")}.text << ' '
              << Cell{text_of(one, "target")}.text << " (" << number_of(one, "requests")
              << " requests)\n";
  }
}

bool is_harmless(const Json& result) {
  return !has(result, "error") && number_of(result, "refused") == 0 &&
         number_of(result, "cut") == 0;
}

void print_results(const std::set<std::string>& expected,
                   const std::map<std::string, Json>& results) {
  Table table{{{"HOST"},
               {"REQUESTS", Fit::number},
               {"NEWLY ALLOWED", Fit::number},
               {"NEWLY REFUSED", Fit::number},
               {"CUT", Fit::number},
               {"PROBLEM", Fit::cut_end}}};
  for (const auto& host : expected) {
    const auto found = results.find(host);
    if (found == results.end()) {
      table.add({host, "-", "-", "-", "-", Cell{"no answer", Colour::yellow}});
      continue;
    }
    const Json& result = found->second;
    const auto number = [&](const char* key) { return std::to_string(number_of(result, key)); };
    table.add({host, number("requests"), number("allowed"), number("refused"), number("cut"),
               Cell{text_of(result, "error"), Colour::red}});
  }
  table.print(std::cout, Terminal::of_output());
  for (const auto& [host, result] : results) {
    if (list_of(result, "newly_allowed").empty() && list_of(result, "newly_refused").empty()) {
      continue;
    }
    std::cout << Cell{host}.text << '\n';
    print_examples(result, "newly_refused", "refused:");
    print_examples(result, "newly_allowed", "allowed:");
  }
}

}  // namespace

int try_on_fleet(fleet::Cluster& cluster, const std::string& name, fleet::Envelope candidate,
                 const std::string& private_pem, const TryOptions& options) {
  const auto signers = fleet::read_signers(cluster.settings);
  if (!signers) return try_failure(signers.error().message);
  const auto overview = fleet::look(cluster, *signers);
  if (!overview) return try_failure(overview.error().message);
  const auto expected = hosts_for(candidate, *overview);
  if (expected.empty()) return try_failure("no host has joined that this policy is for");
  candidate.serial = 0;
  candidate.not_after = unix_micros() / 1'000'000 * 1'000'000 + candidate_life;
  candidate.not_before = std::min(candidate.not_before, candidate.not_after - 2 * candidate_life);
  const auto written =
      fleet::publish(cluster, {"try/" + name, std::move(candidate), std::nullopt}, private_pem);
  if (!written) return try_failure(written.error().message);
  const auto id = fleet::trial_id(fleet::envelope_text(*written));
  const auto end = std::chrono::steady_clock::now() + options.patience;
  std::map<std::string, Json> results;
  while (results.size() < expected.size() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(look_interval);
    const auto found = fleet::read_results(cluster, id);
    if (!found) return try_failure(found.error().message);
    for (const auto& [host, text] : *found) {
      if (expected.count(host) != 0) results[host] = Json::parse(text);
    }
  }
  bool is_fine = results.size() == expected.size();
  for (const auto& [host, result] : results) is_fine = is_fine && is_harmless(result);
  if (options.json) {
    Json hosts = Json::list();
    for (const auto& host : expected) {
      Json one{{"host", host}};
      const auto found = results.find(host);
      if (found == results.end()) one.set("error", "no answer");
      if (found != results.end()) {
        for (const auto& [key, value] : found->second.members()) one.set(key, value);
      }
      hosts.add(std::move(one));
    }
    std::cout << dump({{"ok", true}, {"hosts", hosts}}) << '\n';
  } else {
    print_results(expected, results);
    std::cout << "nothing was published\n";
  }
  return is_fine ? fine : failed;
}

}  // namespace stile::cli
