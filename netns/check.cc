// check: verifies the fence by inspecting it and by trying to get through.
#include "netns/check.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/quoted.h"
#include "base/system_error.h"
#include "netns/control.h"
#include "netns/fence.h"
#include "netns/inet.h"
#include "netns/inspect.h"
#include "netns/link.h"
#include "netns/namespaces.h"
#include "netns/observer.h"
#include "netns/pool.h"
#include "netns/probe.h"
#include "netns/reach.h"
#include "netns/ruleset.h"
#include "netns/sysctl.h"

namespace stile::netns {
namespace {

// A packet takes microseconds from end to end, on a loaded host much longer. So a single probe may
// take long, but not all of them: if the fence is missing, most probes wait for packets that never
// come.
constexpr int look_ms = 10;
constexpr int fewest_looks = 10;
constexpr int most_looks = 100;
constexpr int looks_of_all = 200;

CheckRow row(const std::string& agent, const std::string& name, bool is_good,
             const std::string& wrong) {
  return {agent, name, "whole", is_good ? "whole" : wrong, is_good};
}

Result<void> check_shared(FenceHost& host, CheckReport& report) {
  const auto fence = inspect_fence(host);
  if (!fence) return fence.error();
  report.rows.push_back(row("-", "table", fence->has_table, "missing or changed"));
  report.rows.push_back(row("-", "gateway", fence->has_gateway, "not on lo"));
  report.rows.push_back(row("-", "unreachable-route", fence->has_unreachable, "missing"));
  if (host.setup.netns.capture) {
    report.rows.push_back(row("-", "capture-route", fence->has_capture, "missing"));
  }
  return {};
}

// An intact fence without a daemon is safe, but no request gets through.
CheckRow daemon_row(const std::string& control_socket) {
  const auto problem = daemon_problem(control_socket);
  return {"-",
          "daemon",
          "answers",
          problem.empty() ? "answers" : problem + ": systemctl start stiled",
          problem.empty(),
          false};
}

std::string reach_problem(const FenceHost& host, const Agent& agent) {
  const auto reach = reach_proxy(host, agent);
  if (!reach) return reach.error().message;
  const auto& netns = host.setup.netns;
  const auto place = netns.gateway.text() + ':' + std::to_string(netns.port);
  switch (*reach) {
    case Reach::answered:
      return {};
    case Reach::refused:
      return "the daemon does not listen there: add \"" + place + "\" to server.listen";
    case Reach::silent:
      break;
  }
  return reach_warning(host, agent);
}

std::string names_problem(const FenceHost& host, const Agent& agent) {
  const auto reach = reach_names(host, agent);
  if (!reach) return reach.error().message;
  if (*reach == Reach::answered) return {};
  return "the daemon does not capture: stile-netns repair";
}

// Whether the daemon serves the agent: the fence can be whole while every request fails.
void check_service(const FenceHost& host, const Agent& agent, CheckReport& report) {
  const auto add = [&](const char* probe, const char* good, const std::string& problem) {
    report.rows.push_back(
        {agent.id, probe, good, problem.empty() ? good : problem, problem.empty(), false});
  };
  const auto unreached = reach_problem(host, agent);
  add("proxy", "answers", unreached);
  if (unreached.empty() && is_captured(host.setup.netns, agent)) {
    add("names", "answers", names_problem(host, agent));
  }
  const auto unknown = unknown_agent_problem(host.setup.control, agent.id);
  add("known", "known",
      unknown.empty() ? "" : unknown + "; see agents.directories, then: stile reload");
}

Result<void> check_parts(FenceHost& host, const FenceRecord& record, CheckReport& report) {
  const auto& id = record.agent.id;
  const auto state = inspect(host, record);
  if (!state) return state.error();
  auto open = first_open_sysctl(device_name(id));
  const auto& sysctls = open ? *open : open.error().message;
  report.rows.push_back(row(id, "record", record.is_complete, "unfinished"));
  report.rows.push_back(row(id, "namespace", state->has_namespace, "missing, or not its own"));
  report.rows.push_back(row(id, "devices", state->has_devices, "missing or changed"));
  report.rows.push_back(row(id, "sysctls", state->is_device_shut, sysctls));
  report.rows.push_back(row(id, "route-and-neighbour", state->is_raised, "missing or changed"));
  report.rows.push_back(row(id, "inside", state->is_settled_inside, "missing or changed"));
  report.rows.push_back(row(id, "elements", state->is_admitted, "missing"));
  report.rows.push_back(row(id, "resolv.conf", state->has_resolver, "missing or changed"));
  report.rows.push_back(row(id, "card", state->has_card, "missing or changed"));
  return {};
}

// A socket inside the namespace that sends whole frames, as root there could.
class Sender {
 public:
  static Result<Sender> open(const Agent& agent) {
    const auto namespace_fd = open_namespace(agent.id);
    if (!namespace_fd) return namespace_fd.error();
    if (!*namespace_fd) return Error{"no namespace"};
    const auto visit = NamespaceVisit::enter(**namespace_fd);
    if (!visit) return visit.error();
    auto netlink = Netlink::open();
    if (!netlink) return netlink.error();
    const auto link = find_link(*netlink, inside_device);
    if (!link) return link.error();
    if (!*link) return Error{"no device inside"};
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    if (!fd) return system_error("no packet socket");
    return Sender{std::move(fd), (*link)->index};
  }
  // Why sending failed; empty: sent.
  [[nodiscard]] std::string send(const std::string& frame) const {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = index_;
    to.sll_halen = ETH_ALEN;
    const auto sent = ::sendto(fd_.get(), frame.data(), frame.size(), 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to);
    return sent < 0 ? system_error("sendto").message : "";
  }

 private:
  Sender(UniqueFd fd, int index) : fd_{std::move(fd)}, index_{index} {}
  UniqueFd fd_;
  int index_;
};

std::string device_text(int index) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(static_cast<unsigned>(index), name.data()) == nullptr
             ? std::to_string(index)
             : name.data();
}

void note(const std::vector<Sighting>& sightings, int own_device, std::vector<Facts>& facts) {
  for (const auto& seen : sightings) {
    if (seen.probe >= facts.size()) continue;
    auto& fact = facts[seen.probe];
    switch (seen.place) {
      case Sighting::Place::reached:
        fact.has_reached = true;
        break;
      case Sighting::Place::arrived:
        // Loopback repeats packets that were delivered to the host; our other devices cannot.
        if (seen.device == own_device) fact.has_arrived = true;
        break;
      case Sighting::Place::left:
        if (seen.device == own_device) fact.was_answered = true;
        if (seen.device != own_device) fact.left_through = device_text(seen.device);
        break;
    }
  }
}

struct Run {
  Observer observer;
  std::uint64_t number;
  int looks_left = looks_of_all;
};

Result<Run> start_run() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return system_error("getrandom");
  auto observer = Observer::open(number);
  if (!observer) return observer.error();
  return Run{std::move(*observer), number};
}

// The address of another agent, or an unused one.
acl::Address other_than(const FenceHost& host, const Agent& agent,
                        const std::vector<FenceRecord>& records) {
  for (const auto& record : records) {
    if (record.agent.id != agent.id) return record.agent.address;
  }
  return next_address(host.setup.netns, agent.address, [](const auto&) { return false; })
      .value_or(agent.address);
}

bool has_outcome(Expected expected, const Facts& facts) {
  if (!facts.left_through.empty() || facts.was_answered) return true;
  const bool may_reach = expected == Expected::passes || expected == Expected::captured;
  if (facts.has_reached && !may_reach) return true;
  switch (expected) {
    case Expected::passes:
      return facts.is_passed && facts.has_reached;
    case Expected::refused:
      return facts.is_refused;
    case Expected::ignored:
      return facts.has_arrived;
    case Expected::captured:
      return facts.is_refused || (facts.is_passed && facts.has_reached);
  }
  return true;
}

void try_probe(FenceHost& host, const Agent& agent, int own_device, const Sender& sender, Run& run,
               const Probe& probe, std::size_t number, std::vector<Facts>& facts) {
  const auto counts = [&] {
    const auto elements = read_elements(host.netfilter, agent);
    return elements ? std::pair{elements->passed.value_or(PacketCount{}).packets,
                                elements->refused.value_or(PacketCount{}).packets}
                    : std::pair<std::uint64_t, std::uint64_t>{};
  };
  const auto before = counts();
  facts[number].not_sent = sender.send(probe.frame);
  if (!facts[number].not_sent.empty()) return;
  const int looks = std::clamp(run.looks_left, fewest_looks, most_looks);
  for (int look = 0; look < looks && !has_outcome(probe.expected, facts[number]); ++look) {
    --run.looks_left;
    note(run.observer.look(look_ms), own_device, facts);
    const auto after = counts();
    facts[number].is_passed = after.first > before.first;
    facts[number].is_refused = after.second > before.second;
  }
}

Result<void> check_probes(FenceHost& host, const Agent& agent,
                          const std::vector<FenceRecord>& records, CheckReport& report) {
  auto run = start_run();
  if (!run) return run.error();
  const auto link = find_link(host.route, device_name(agent.id));
  if (!link) return link.error();
  const int own_device = *link ? (*link)->index : 0;
  const auto address = first_host_address(host.route);
  if (!address) return address.error();
  const auto probes = make_probes(
      host.setup.netns,
      {agent, other_than(host, agent, records), *address, run->observer.open_port()}, run->number);
  std::vector<Facts> facts(probes.size());
  const auto sender = Sender::open(agent);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (sender) {
      try_probe(host, agent, own_device, *sender, *run, probes[i], i, facts);
    } else {
      facts[i].not_sent = sender.error().message;
    }
  }
  // Packets that arrive after their probe's turn still count.
  note(run->observer.look(look_ms), own_device, facts);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const auto verdict = judge(probes[i].expected, facts[i]);
    report.rows.push_back({agent.id, probes[i].name, std::string{text(probes[i].expected)},
                           verdict.got, verdict.is_good});
  }
  return {};
}

Result<void> check_agent(FenceHost& host, const FenceRecord& record,
                         const std::vector<FenceRecord>& records, CheckReport& report) {
  if (auto done = check_parts(host, record, report); !done) return done;
  if (auto done = check_probes(host, record.agent, records, report); !done) return done;
  const auto elements = read_elements(host.netfilter, record.agent);
  if (!elements) return elements.error();
  report.counts.push_back({record.agent.id, elements->passed.value_or(PacketCount{}),
                           elements->refused.value_or(PacketCount{})});
  return {};
}

}  // namespace

bool CheckReport::is_fence_whole() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const CheckRow& one) { return one.is_good || !one.is_of_fence; });
}

bool CheckReport::is_good() const {
  return std::all_of(rows.begin(), rows.end(), [](const CheckRow& one) { return one.is_good; });
}

Result<CheckReport> check(FenceHost& host, const std::optional<std::string>& id) {
  CheckReport report;
  if (const auto done = check_shared(host, report); !done) return done.error();
  const auto records = host.records.all();
  if (!records) return records.error();
  bool is_found = !id;
  for (const auto& record : *records) {
    if (id && record.agent.id != *id) continue;
    is_found = true;
    if (const auto done = check_agent(host, record, *records, report); !done) {
      return Error{record.agent.id + ": " + done.error().message};
    }
  }
  if (!is_found)
    return Error{"there is no agent " + in_quotes(*id) + "; stile-netns list shows all"};
  report.rows.push_back(daemon_row(host.setup.control));
  if (!report.rows.back().is_good) return report;
  for (const auto& record : *records) {
    if (!id || record.agent.id == *id) check_service(host, record.agent, report);
  }
  return report;
}

}  // namespace stile::netns
