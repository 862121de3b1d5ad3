// Journal: the spawner's own audit log.
#include "spawn/journal.h"

#include <algorithm>
#include <string>

#include "base/unix_time.h"

namespace stile::spawn {
namespace {

// So that requests in any number do not fill the disk.
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

bool Journal::write(audit::Event event, const Caller* peer, const Entry& entry,
                    std::uint64_t count) {
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
  record.count = count;
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

// Otherwise a flood of refusals would rotate the log until nothing else is in it. Through
// stile-web, every user of the host can cause them.
void Journal::refuse(const Caller& peer, const Entry& entry) {
  constexpr auto interval = std::chrono::nanoseconds{std::chrono::seconds{1}} / refusals_per_second;
  Refusals& own = refusals_[peer.uid];
  const auto now = Clock::now();
  if (own.next > now) {
    ++own.unwritten;
    return;
  }
  own.next = std::max(own.next, now - refusals_at_once * interval) + interval;
  const auto count = own.unwritten == 0 ? 0 : own.unwritten + 1;
  if (write(audit::Event::deny, &peer, entry, count)) own.unwritten = 0;
}

}  // namespace stile::spawn
