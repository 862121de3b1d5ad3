// ScanRules: built-in sets and the operator's own expressions, on RE2.
#include "scan/rules.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

namespace stile::scan {
namespace {

constexpr std::int64_t max_bytes = std::int64_t{16} << 20;  // of one set, with its automaton
constexpr std::array all_sets{Set::tokens, Set::private_keys, Set::payment, Set::wallets};

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // bodies can be any bytes
  options.set_max_mem(max_bytes);
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct ScanRules::Expressions {
  Expressions() : all{options(), RE2::UNANCHORED} {}
  RE2::Set all;
  std::vector<std::unique_ptr<RE2>> single;  // for when the set runs out of memory
  std::vector<Found> bits;                   // by the number in the set
};

ScanRules::ScanRules() = default;
ScanRules::~ScanRules() = default;

std::string pattern_fault(const std::string& pattern) {
  if (pattern.empty()) return "it is empty";
  const RE2 compiled{pattern, options()};
  if (!compiled.ok()) return compiled.error().substr(0, 120);
  if (RE2::PartialMatch("", compiled)) return "it matches the empty text, so every request";
  return {};
}

const Set* set_named(std::string_view name) noexcept {
  const auto found = std::find_if(all_sets.begin(), all_sets.end(),
                                  [&](const Set& set) { return text(set) == name; });
  return found == all_sets.end() ? nullptr : &*found;
}

Result<std::shared_ptr<const ScanRules>> ScanRules::compile(std::vector<Scan> scans) {
  if (scans.size() > most_scans) {
    return Error{"an agent has at most " + std::to_string(most_scans) + " scans"};
  }
  std::shared_ptr<ScanRules> rules{new ScanRules};
  auto expressions = std::make_unique<Expressions>();
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const Scan& scan = scans[i];
    const Found bit = bit_of(first_number + i);
    if (scan.action == ScanAction::log) rules->logs_ |= bit;
    if (scan.pattern.empty()) {
      const Set* set = set_named(scan.name);
      if (set == nullptr) return Error{"there is no built-in scan named " + scan.name};
      rules->sets_[static_cast<std::size_t>(*set)] = bit;
      continue;
    }
    std::string error;
    if (expressions->all.Add(piece(scan.pattern), &error) < 0) {
      return Error{"scan " + scan.name + ": " + error};
    }
    expressions->single.push_back(std::make_unique<RE2>(piece(scan.pattern), options()));
    expressions->bits.push_back(bit);
  }
  rules->scans_ = std::move(scans);
  if (!expressions->bits.empty()) {
    if (!expressions->all.Compile()) {
      return Error{"the patterns of its scans need more than 16 MiB together; use shorter ones"};
    }
    rules->expressions_ = std::move(expressions);
  }
  return std::shared_ptr<const ScanRules>{std::move(rules)};
}

std::string_view ScanRules::name_of(std::size_t number) const {
  if (number == secrets_number) return "secrets";
  if (number == placeholders_number) return "placeholders";
  return scans_[number - first_number].name;
}

Found ScanRules::refusing(Found found, bool is_trial) const noexcept {
  constexpr Found always = bit_of(secrets_number) | bit_of(placeholders_number);
  return is_trial ? found & always : found & ~logs_;
}

std::string ScanRules::names(Found found) const {
  std::string names;
  for (std::size_t number = 0; number < first_number + scans_.size(); ++number) {
    if ((found & bit_of(number)) == 0) continue;
    names.append(names.empty() ? "" : ",").append(name_of(number));
  }
  return names;
}

Found ScanRules::match(std::string_view text) const {
  if (!expressions_) return 0;
  Found found = 0;
  std::vector<int> numbers;
  RE2::Set::ErrorInfo info{RE2::Set::kNoError};
  if (expressions_->all.Match(piece(text), nullptr, &info)) {
    if (!expressions_->all.Match(piece(text), &numbers, &info)) info.kind = RE2::Set::kOutOfMemory;
    for (const int number : numbers) found |= expressions_->bits[static_cast<std::size_t>(number)];
  }
  if (info.kind == RE2::Set::kNoError) return found;
  // Single expressions fall back to a slower way that needs no memory.
  for (std::size_t i = 0; i < expressions_->single.size(); ++i) {
    if (RE2::PartialMatch(piece(text), *expressions_->single[i])) found |= expressions_->bits[i];
  }
  return found;
}

}  // namespace stile::scan
