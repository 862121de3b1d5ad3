// create: creates an agent's namespace, completely or not at all.
#include "netns/create.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/contains.h"
#include "base/quoted.h"
#include "base/random.h"
#include "base/unix_time.h"
#include "config/card.h"
#include "netns/binding.h"
#include "netns/control.h"
#include "netns/fence.h"
#include "netns/hand_over.h"
#include "netns/inspect.h"
#include "netns/namespaces.h"
#include "netns/pool.h"
#include "netns/reach.h"
#include "netns/rotation.h"

namespace stile::netns {
namespace {

// The requested address, or the next in rotation.
Result<acl::Address> choose_address(const FenceHost& host, const std::string& id,
                                    const AgentBinding& binding,
                                    const std::vector<KnownAgent>& known) {
  const auto owners = host.records.owners();
  if (!owners) return owners.error();
  for (const auto& owner : *owners) {
    if (device_name(owner.id) == device_name(id)) {
      return Error{"the device names of agents " + owner.id + " and " + id +
                   " are the same; rename one"};
    }
    if (owner.address == binding.address) {
      return Error{binding.address->text() + " is taken by agent " + owner.id};
    }
  }
  const auto is_taken = [&](const acl::Address& address) {
    return std::any_of(owners->begin(), owners->end(),
                       [&](const auto& owner) { return owner.address == address; }) ||
           std::any_of(known.begin(), known.end(), [&](const KnownAgent& agent) {
             return agent.id != id &&
                    std::any_of(agent.source.begin(), agent.source.end(),
                                [&](const auto& prefix) { return prefix.contains(address); });
           });
  };
  if (binding.address) return *binding.address;
  const auto last = last_given(host.setup.state_dir);
  if (!last) return last.error();
  const auto address = next_address(host.setup.netns, *last, is_taken);
  if (!address) return Error{"all addresses of " + host.setup.netns.subnet.text() + " are taken"};
  if (const auto kept = set_last_given(host.setup.state_dir, *address); !kept) return kept.error();
  return *address;
}

// Refuses to use anything that has this name but no record: it is not ours.
Result<void> require_free_name(const std::string& id) {
  const auto fd = open_namespace(id);
  if (!fd) return fd.error();
  if (*fd) return Error{namespace_path(id) + " exists, and stile-netns did not make it"};
  return {};
}

Result<FenceRecord> new_record(const FenceHost& host, const CreateRequest& request,
                               const AgentBinding& binding, const std::vector<KnownAgent>& known) {
  const auto address = choose_address(host, request.id, binding, known);
  if (!address) return address.error();
  const bool is_captured = host.setup.netns.capture && !request.is_uncaptured;
  auto instance = request.instance.empty() ? random_hex(16) : request.instance;
  FenceRecord record{
      {request.id, *address, std::move(instance), is_captured}, false, binding.bound_by, {}};
  if (binding.bound_by.empty()) {
    auto card = bound_card(binding.card, request.card, record.agent, unix_micros());
    if (!card) return Error{card.error().text()};
    record.card = std::move(*card);
  }
  return record;
}

Result<void> make_anew(FenceHost& host, FenceRecord& record, const BeforeStep& before) {
  if (auto free = require_free_name(record.agent.id); !free) return free;
  auto made = apply_all(host, record, plan_create(), before);
  if (made) return made;
  if (const auto removed = remove_all(host, record); !removed) {
    return Error{made.error().message + "; and it could not be undone: " + removed.error().message +
                 "; run `stile-netns repair`"};
  }
  return made;
}

// An existing agent: creates what is missing, and replaces its card if another one was given or
// flags change it.
Result<void> make_whole(FenceHost& host, FenceRecord& record, const CreateRequest& request,
                        const AgentBinding& binding, const BeforeStep& before) {
  if (binding.address && *binding.address != record.agent.address) {
    return Error{"agent " + request.id + " has the address " + record.agent.address.text() +
                 "; delete it first"};
  }
  if (request.is_uncaptured && record.agent.is_captured) {
    return Error{"agent " + request.id + " is captured; delete it first"};
  }
  auto state = inspect(host, record);
  if (!state) return state.error();
  const bool changes_card = binding.bound_by != record.bound_by ||
                            (binding.bound_by.empty() && !request.card.says_nothing());
  if (changes_card) {
    state->has_card = false;
    state->record = AgentState::Record::incomplete;  // so that it is written again
    record.bound_by = binding.bound_by;
    const auto before_change = std::exchange(record.card, {});
    if (binding.bound_by.empty()) {
      // Without --card the flags change the existing card: --allow keeps its ttl.
      const bool is_change = !request.card.file && !before_change.empty();
      const config::Checked<config::Node> old =
          is_change ? read_bound_card(before_change) : config::Checked<config::Node>{binding.card};
      if (!old) return Error{old.error().text()};
      auto card = bound_card(*old, request.card, record.agent, unix_micros());
      if (!card) return Error{card.error().text()};
      record.card = std::move(*card);
    }
  }
  return apply_all(host, record, plan_repair(*state), before);
}

Result<Created> create_locked(FenceHost& host, const CreateRequest& request,
                              const BeforeStep& before) {
  const auto lock = Lock::take();
  if (!lock) return lock.error();
  const auto known = known_agents(host.setup);
  const auto binding = bind_agent(host.setup.netns, known, request.id, request.card);
  if (!binding) return binding.error();
  if (const auto fence = raise_fence(host); !fence) return fence.error();
  auto found = host.records.find(request.id);
  if (!found) return found.error();
  if (!request.instance.empty() && (*found || !binding->bound_by.empty())) {
    return Error{"there is an agent " + request.id + " already"};
  }
  if (*found && (*found)->is_complete) {
    auto& record = **found;
    const auto old_card = record.card;
    const auto done = make_whole(host, record, request, *binding, before);
    if (!done) return done.error();
    return Created{record.agent, true, record.card != old_card, expiry_of(record), {}};
  }
  if (*found) {  // left by a killed process
    if (const auto removed = remove_all(host, **found); !removed) return removed.error();
  }
  auto record = new_record(host, request, *binding, known);
  if (!record) return record.error();
  if (const auto done = make_anew(host, *record, before); !done) return done.error();
  return Created{record->agent, false, false, expiry_of(*record), {}};
}

}  // namespace

Result<Created> create(FenceHost& host, const CreateRequest& request, const BeforeStep& before) {
  if (!is_plain_id(request.id)) {
    return Error{in_quotes(request.id) +
                 " is not an id: 1 to 64 of a-z, 0-9 and -, not beginning or ending with -"};
  }
  auto created = create_locked(host, request, before);
  if (!created) return created;
  if (created->expires && *created->expires <= unix_micros()) {
    created->warnings.push_back("its time ran out at " + time_text(*created->expires) +
                                "; give it a new one: stile-netns create " + request.id +
                                " --ttl 1h");
  }
  const auto& directories = host.setup.card_directories;
  if (!contains(directories, card_directory)) {
    created->warnings.push_back(
        std::string{card_directory} +
        " is not among agents.directories: the daemon will not see the card");
  }
  // Outside the lock, so that a slow daemon does not block other processes.
  const auto handed = hand_over_capture(host.setup);
  for (auto& warning :
       {notify_daemon(host.setup.control), handed ? std::string{} : handed.error().message,
        reach_warning(host, created->agent)}) {
    if (!warning.empty()) created->warnings.push_back(warning);
  }
  return created;
}

}  // namespace stile::netns
