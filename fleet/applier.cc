// Applier: from objects of the store to a state of the daemon.
#include "fleet/applier.h"

#include <algorithm>
#include <utility>

#include "proxy/base/log.h"

namespace stile::fleet {
namespace {

// The files of this host may change: what they refused may fit later.
constexpr UnixMicros refused_pause = 60'000'000;
constexpr UnixMicros away_pause = 1'000'000;
constexpr std::size_t max_notes = max_objects;
constexpr std::size_t max_reason_bytes = 512;

}  // namespace

Applier::Applier(Signers signers, FleetMember member, const config::FleetState& kept,
                 HandOver hand_over)
    : signers_{std::move(signers)},
      member_{std::move(member)},
      hand_over_{std::move(hand_over)},
      ledger_{Ledger::restore(kept.objects, signers_, member_)},
      slices_{kept.layer.slices} {
  sent_ = kept;
  for (const auto& [name, reason] : kept.refused) notes_.emplace(name, reason);
}

void Applier::note(const std::string& name, const std::string& reason) {
  std::string& old = notes_[name];
  auto text = reason.substr(0, max_reason_bytes);
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ';');  // one line each in the log
  if (old == text) return;
  old = text;
  log::warning(name + " does not count: " + text);
}

std::vector<config::FleetRefusal> Applier::refused() const {
  std::vector<config::FleetRefusal> all;
  for (const auto& [name, reason] : notes_) all.push_back({name, reason});
  return all;
}

bool Applier::is_offline() const { return state_of(ledger_, {}, {}).offline; }

void Applier::take(std::vector<StoredObject> found, UnixMicros now) {
  for (auto& one : found) {
    if (is_object_name(one.name) &&
        (waiting_.size() < max_objects || waiting_.count(one.name) != 0)) {
      waiting_[one.name] = {std::move(one.text), now};
    }
  }
  settle(now);
}

bool Applier::turns_offline(const std::vector<StoredObject>& found, UnixMicros now) const {
  return std::any_of(found.begin(), found.end(), [&](const StoredObject& one) {
    const auto judged = ledger_.judge(one.name, one.text, signers_, now);
    return one.name == "switch" && judged.kind == ObjectJudgement::Kind::accepted &&
           switch_of(judged.envelope->body) == Switch::offline;
  });
}

bool Applier::is_worth_keeping(const std::string& name, std::string_view text, UnixMicros now) {
  if (!is_object_name(name)) return false;
  const auto judged = ledger_.judge(name, text, signers_, now);
  if (judged.kind != ObjectJudgement::Kind::refused) return true;
  if (notes_.size() < max_notes || notes_.count(name) != 0) note(name, judged.reason);
  return false;
}

void Applier::settle(UnixMicros now) {
  apply(judge_waiting(now), now);
  if (state_of(ledger_, slices_, refused()) != sent_) static_cast<void>(send(ledger_, now));
}

Applier::Candidates Applier::judge_waiting(UnixMicros now) {
  Candidates candidates;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    auto& [name, waiting] = *it;
    if (waiting.due > now) {
      ++it;
      continue;
    }
    auto judgement = ledger_.judge(name, waiting.text, signers_, now);
    bool is_settled = false;
    switch (judgement.kind) {
      case ObjectJudgement::Kind::unchanged:
        notes_.erase(name);
        is_settled = true;
        break;
      case ObjectJudgement::Kind::accepted:
        candidates.emplace(name, std::move(*judgement.envelope));
        break;
      case ObjectJudgement::Kind::early:
        note(name, judgement.reason);
        waiting.due = judgement.envelope->not_before;
        break;
      case ObjectJudgement::Kind::refused:
        if (notes_.size() < max_notes || notes_.count(name) != 0) note(name, judgement.reason);
        is_settled = true;
        break;
    }
    it = is_settled ? waiting_.erase(it) : std::next(it);
  }
  return candidates;
}

// All in one step. If the daemon refuses that, one by one: an invalid policy must not keep the
// others from counting.
void Applier::apply(const Candidates& candidates, UnixMicros now) {
  if (candidates.empty()) return;
  Ledger next = ledger_;
  auto notes = notes_;
  for (const auto& [name, envelope] : candidates) {
    next.accept(name, envelope, member_);
    notes_.erase(name);
  }
  if (!send(next, now)) {
    notes_ = std::move(notes);
    return;
  }
  if (last_.kind == Handed::Kind::done) {
    ledger_ = std::move(next);
    for (const auto& [name, envelope] : candidates) {
      waiting_.erase(name);
      log::info(name + " serial " + std::to_string(envelope.serial) +
                (ledger_.entries().at(name).envelope ? " counts" : " is not for this host"));
    }
    return;
  }
  notes_ = std::move(notes);
  if (candidates.size() == 1) {
    const auto& name = candidates.begin()->first;
    note(name, last_.message);
    waiting_[name].due = now + refused_pause;
    return;
  }
  for (const auto& candidate : candidates) apply({candidate}, now);
}

bool Applier::send(const Ledger& ledger, UnixMicros now) {
  auto state = state_of(ledger, slices_, refused());
  last_ = hand_over_(state);
  retry_.reset();
  if (last_.kind == Handed::Kind::done) sent_ = std::move(state);
  if (last_.kind == Handed::Kind::away) {
    retry_ = now + away_pause;
    log::warning("the daemon does not take the fleet's policy: " + last_.message);
    return false;
  }
  return true;
}

std::optional<config::FleetState> Applier::trial(std::string_view name, std::string_view text,
                                                 UnixMicros now) const {
  constexpr std::string_view prefix = "try/";
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string policy = "policy/" + std::string{name.substr(prefix.size())};
  auto envelope = parse_envelope(text);
  if (!is_object_name(policy) || !envelope || !signers_.verify(name, *envelope) ||
      now < envelope->not_before || now >= envelope->not_after ||
      !applies_to(*envelope, member_.host, member_.labels)) {
    return std::nullopt;
  }
  Ledger next = ledger_;
  next.accept(policy, std::move(*envelope), member_);
  return state_of(next, slices_, {});
}

void Applier::add_slice(const std::string& agent, std::uint64_t bytes, std::uint64_t exhausted,
                        UnixMicros now) {
  auto& slice = slices_[agent];
  slice.bytes += bytes;
  slice.exhausted = exhausted;
  settle(now);
}

std::optional<UnixMicros> Applier::next_due() const {
  auto due = retry_;
  for (const auto& [name, waiting] : waiting_) {
    if (!due || waiting.due < *due) due = waiting.due;
  }
  return due;
}

}  // namespace stile::fleet
