// FenceRecords: the journal of what `stile-netns` created, one file per agent in /run/stile/netns.
//
// A record is written first and removed last, so everything that a killed process leaves behind
// belongs to an incomplete record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/unix_time.h"
#include "netns/agent.h"

namespace stile::netns {

struct FenceRecord {
  Agent agent;
  bool is_complete = false;
  std::string bound_by;  // the operator's file that binds the agent; empty: our own card does
  std::string card;      // its text, one line, so that a lost card can be written again
};

// Of its card, which is bound: the end does not depend on the time of reading.
[[nodiscard]] std::optional<UnixMicros> expiry_of(const FenceRecord& record);

class FenceRecords {
 public:
  static Result<FenceRecords> open();

  [[nodiscard]] Result<std::vector<FenceRecord>> all() const;
  [[nodiscard]] Result<std::optional<FenceRecord>> find(const std::string& id) const;
  [[nodiscard]] Result<void> write(const FenceRecord& record) const;
  [[nodiscard]] Result<void> remove(const Agent& agent) const;

  // The agents and their addresses, from the file names alone: with a thousand agents, opening each
  // file would be most of the work of a `create`.
  struct Owner {
    std::string id;
    acl::Address address;
  };
  [[nodiscard]] Result<std::vector<Owner>> owners() const;

 private:
  explicit FenceRecords(UniqueFd directory) : directory_{std::move(directory)} {}
  [[nodiscard]] Result<FenceRecord> read(const Owner& owner) const;

  UniqueFd directory_;
};

}  // namespace stile::netns
