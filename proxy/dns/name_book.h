// NameBook: the addresses that stand for names, of all agents, shared by all workers: a connection
// may arrive on another worker than the question.
//
// New entries are appended to a file, before they are answered: the caller calls write_new() before
// it sends answers. So an agent can go on using its addresses after a restart of the daemon, and
// after a crash.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "acl/policy.h"
#include "base/random.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "proxy/dns/agent_names.h"

namespace stile::dns {

class NameBook {
 public:
  // Refusals of one name are reported once in this time.
  static constexpr std::chrono::seconds refusal_interval{60};
  static constexpr std::size_t max_refusals = 1024;  // remembered for one agent
  // The file may grow to a multiple of its entries before it is written again, up to this size.
  static constexpr std::size_t max_file_bytes = std::size_t{64} << 20;

  explicit NameBook(const acl::Prefix& subnet) noexcept : subnet_{subnet} {}

  // Before the first worker starts: restores the entries of these agents from `names` in that
  // directory, and keeps that file from now on.
  [[nodiscard]] Result<void> keep_in(const std::string& directory, const acl::Snapshot& agents,
                                     SteadyTime now);

  // The address for a name, from now on for at least AgentNames::ttl. Null: no place is free.
  [[nodiscard]] StandInPtr stand_in(const acl::AgentPolicy& agent, std::string_view name,
                                    SteadyTime now);
  // Writes the entries that are new, those of other workers too, with one call.
  void write_new();
  // Null: for this agent the address stands for nothing.
  [[nodiscard]] StandInPtr find(const acl::AgentPolicy& agent, const acl::Address& address) const;
  // Whether this refusal is to be reported: no other one was, within refusal_interval.
  [[nodiscard]] bool is_news(const acl::AgentPolicy& agent, std::string_view name, SteadyTime now);

  // Forgets the agents that are not in the snapshot.
  void keep_only(const acl::Snapshot& snapshot);
  // Another process has replaced the file, and has ended; from a thread that may open files.
  void write_again();
  // Writes the file again if it is mostly outdated; from a thread that may open files.
  void tidy();

 private:
  struct Agent {
    std::shared_ptr<acl::Account> account;  // keeps the key from being reused
    std::string label;                      // id and instance, as in the file
    AgentNames names;
    std::uint64_t lines = 0;  // that the file has of it; a later line counts as newer
    std::unordered_map<std::string, SteadyTime, SeededHash, std::equal_to<>> refused;
  };

  Agent& agent_of(const acl::AgentPolicy& policy);
  void append(Agent& agent, const StandIn& entry);
  void restore(std::string_view text, const acl::Snapshot& agents, SteadyTime now);
  [[nodiscard]] std::string write_text();
  Result<void> replace_file();

  const acl::Prefix subnet_;
  mutable std::mutex mutex_;
  // By the account: one per id and instance.
  std::unordered_map<const acl::Account*, Agent> agents_;
  Random random_;
  std::string directory_;  // empty: nothing is kept
  UniqueFd file_;
  std::string unwritten_;                        // lines of entries that are not in the file yet
  std::size_t file_bytes_ = 0, tidy_bytes_ = 0;  // now, and when it was last written as a whole
};

// One line of the file: "ID INSTANCE NAME ADDRESS\n"; an empty instance is "-". Pure.
struct NameLine {
  std::string_view id, instance, name;
  acl::Address address;
};
[[nodiscard]] std::string name_line(std::string_view id_and_instance, const StandIn& entry);
// Takes the first line off `text`. False: it is not such a line.
[[nodiscard]] bool take_name_line(std::string_view& text, NameLine& line);

}  // namespace stile::dns
