// repair: restores what should exist, and removes what should not.
#include "netns/repair.h"

#include <algorithm>
#include <set>

#include "netns/apply.h"
#include "netns/fence.h"
#include "netns/inspect.h"
#include "netns/link.h"
#include "netns/nft.h"
#include "netns/ruleset.h"
#include "netns/sysctl.h"
#include "netns/table_state.h"

namespace stile::netns {
namespace {

Result<Done> repair_agent(FenceHost& host, FenceRecord& record) {
  const auto& id = record.agent.id;
  if (!record.is_complete) {
    if (const auto removed = remove_all(host, record); !removed) return removed.error();
    return Done{id + ": removed what was left of it"};
  }
  const auto state = inspect(host, record);
  if (!state) return state.error();
  const auto steps = plan_repair(*state);
  if (const auto applied = apply_all(host, record, steps); !applied) return applied.error();
  Done done;
  for (const auto step : steps) done.push_back(id + ": " + std::string{text(step)});
  return done;
}

// Devices and elements without a record. They give no network access: the table drops packets from
// such a device, and such an element matches no device.
Result<Done> remove_strangers(FenceHost& host, const std::vector<FenceRecord>& records) {
  std::set<std::string> devices;
  std::set<std::pair<std::string, acl::Address>> pairs;
  for (const auto& record : records) {
    devices.insert(device_name(record.agent.id));
    pairs.emplace(device_name(record.agent.id), record.agent.address);
  }
  Done done;
  const auto links = fence_links(host.route);
  if (!links) return links.error();
  for (const auto& link : *links) {
    // A device of that name that is not ours is left alone: its packets are dropped in any case.
    if (devices.count(link.name) != 0 || !is_host_mac(link.mac)) continue;
    if (const auto removed = remove_link(host.route, link.name); !removed) return removed.error();
    done.push_back("removed the device " + link.name);
  }
  const auto elements = read_all_elements(host.netfilter);
  if (!elements) return elements.error();
  std::string commands;
  for (const auto& [pair, count] : elements->agents) {
    if (pairs.count(pair) == 0) commands += expel_pair(pair.first, pair.second);
  }
  for (const auto& pair : elements->captured) {
    if (pairs.count(pair) == 0) commands += expel_captured(pair.first, pair.second);
  }
  for (const auto& [device, count] : elements->refused) {
    if (devices.count(device) == 0) commands += expel_device(device);
  }
  if (commands.empty()) return done;
  if (const auto expelled = run_nft(commands); !expelled) return expelled.error();
  done.push_back("removed elements of the table that belong to no agent");
  return done;
}

Result<Done> admit_missing(FenceHost& host) {
  const auto records = host.records.all();
  if (!records) return records.error();
  const auto elements = read_all_elements(host.netfilter);
  if (!elements) return elements.error();
  std::string commands;
  Done done;
  for (const auto& record : *records) {
    const auto found = elements->of(record.agent);
    const bool has_all = found.passed && found.refused &&
                         (found.is_captured || !is_captured(host.setup.netns, record.agent));
    if (!record.is_complete || has_all) continue;
    commands += admit(host.setup.netns, record.agent);
    done.push_back(record.agent.id + ": " + std::string{text(Step::admit)});
  }
  if (commands.empty()) return done;
  if (auto admitted = run_nft(commands); !admitted) return admitted.error();
  return done;
}

Result<Done> shut_open_devices(FenceHost& host) {
  const auto links = fence_links(host.route);
  if (!links) return links.error();
  Done done;
  for (const auto& link : *links) {
    const auto open = first_open_sysctl(link.name);
    if (!open || open->empty()) continue;  // the device may be gone again
    if (auto shut = shut_device(link.name); !shut) continue;
    done.push_back("set back: " + *open);
  }
  return done;
}

void append(Done& all, const Done& more) { all.insert(all.end(), more.begin(), more.end()); }

}  // namespace

Result<Done> repair(FenceHost& host) {
  const auto lock = Lock::take();
  if (!lock) return lock.error();
  auto done = raise_fence(host);
  if (!done) return done;
  auto records = host.records.all();
  if (!records) return records.error();
  std::string first_error;
  for (auto& record : *records) {
    const auto repaired = repair_agent(host, record);
    if (repaired) append(*done, *repaired);
    if (!repaired && first_error.empty()) {
      first_error = record.agent.id + ": " + repaired.error().message;
    }
  }
  std::erase_if(*records, [](const FenceRecord& record) { return !record.is_complete; });
  auto strangers = remove_strangers(host, *records);
  if (!strangers) return strangers;
  append(*done, *strangers);
  if (!first_error.empty()) return Error{first_error};
  return done;
}

Result<Done> hold_fence(FenceHost& host, Hold what) {
  const auto lock = Lock::take();
  if (!lock) return lock.error();
  auto done = raise_fence(host);
  if (!done) return done;
  auto admitted = admit_missing(host);
  if (!admitted) return admitted;
  append(*done, *admitted);
  if (what == Hold::table) return done;
  auto shut = shut_open_devices(host);
  if (!shut) return shut;
  append(*done, *shut);
  return done;
}

}  // namespace stile::netns
