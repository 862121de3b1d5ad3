// Journal: the spawner's own audit log.
#include "spawn/journal.h"

#include <string>

#include "base/unix_time.h"

namespace stile::spawn {
namespace {

// So that refused requests in any number do not fill the disk.
constexpr std::uint64_t max_log_bytes = 64U << 20U;

}  // namespace

Result<Journal> Journal::open(const std::string& path) {
  audit::Log::Options options;
  options.path = path;
  if (path != "-") options.max_bytes = max_log_bytes;
  auto log = audit::Log::open(std::move(options));
  if (!log) return log.error();
  return Journal{std::move(*log)};
}

bool Journal::write(audit::Event event, const Caller* peer, const Entry& entry) {
  const auto actor =
      peer == nullptr ? std::string{}
                      : "uid " + std::to_string(peer->uid) + ", pid " + std::to_string(peer->pid);
  audit::Record record;
  record.event = event;
  record.time_us = unix_micros();
  record.agent = entry.worker;
  record.method = entry.action;
  if (event == audit::Event::deny) record.verdict = acl::Verdict::deny;
  record.actor = actor;
  record.detail = entry.detail;
  auto batch = log_->new_batch();
  batch.add(record);
  return log_->write(batch) == 1;
}

bool Journal::grant(const Caller& peer, const Entry& entry) {
  return write(audit::Event::grant, &peer, entry);
}

void Journal::note(const Caller* peer, const Entry& entry) {
  static_cast<void>(write(audit::Event::policy, peer, entry));
}

void Journal::refuse(const Caller& peer, const Entry& entry) {
  static_cast<void>(write(audit::Event::deny, &peer, entry));
}

}  // namespace stile::spawn
