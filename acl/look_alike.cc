// LookAlikes: compares registered names, not the names of hosts below them.
#include "acl/look_alike.h"

#include <algorithm>
#include <bit>

#include "acl/policy.h"
#include "acl/public_suffix.h"
#include "base/nearest.h"

namespace stile::acl {
namespace {

constexpr std::size_t short_label = 4;  // shorter names are all similar
constexpr std::size_t long_label = 9;   // from this length, two typing errors still look alike
constexpr std::size_t max_errors = 2;

// Maps what looks alike to one form: 0 and o, 1, l and i, rn and m, vv and w; drops hyphens.
std::string shape_of(std::string_view label) {
  std::string shape;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto pair = label.substr(i, 2);
    if (pair == "rn" || pair == "vv") {
      shape += pair == "rn" ? 'm' : 'w';
      ++i;
    } else if (label[i] == '0') {
      shape += 'o';
    } else if (label[i] == '1' || label[i] == 'i') {
      shape += 'l';
    } else if (label[i] == '5') {
      shape += 's';
    } else if (label[i] != '-') {
      shape += label[i];
    }
  }
  return shape;
}

// The letters and digits of a label, one bit each. One error changes at most two bits.
std::uint64_t letters_of(std::string_view label) {
  std::uint64_t letters = 0;
  for (const char c : label) letters |= std::uint64_t{1} << (static_cast<unsigned char>(c) % 64);
  return letters;
}

std::string_view first_label(std::string_view name) { return name.substr(0, name.find('.')); }

// "example.com.evil.net" for "example.com".
bool is_prefix(std::string_view name, std::string_view host) {
  return name.find('.') != std::string_view::npos && host.size() > name.size() &&
         host.starts_with(name) && host[name.size()] == '.';
}

}  // namespace

std::shared_ptr<const LookAlikes> LookAlikes::of(const Rules& allow) {
  auto made = std::make_shared<LookAlikes>();
  for (const auto& set : allow.sets) {
    for (std::uint32_t i = 0; i < set->size() && made->known_.size() < max_names; ++i) {
      const Rule& rule = set->rule(i);
      const bool is_name = rule.kind != Pattern::Kind::regex && rule.kind != Pattern::Kind::any;
      if (is_name) made->add(set->name(rule));
    }
  }
  return made->known_.empty() ? nullptr : made;
}

void LookAlikes::add(std::string_view name) {
  auto registered = registered_name(std::string{name});
  auto shape = shape_of(first_label(registered));
  const auto letters = letters_of(first_label(registered));
  known_.push_back({std::string{name}, std::move(registered), std::move(shape), letters});
}

// A cheap answer for most hosts, since an agent can cause many refusals: whether a label of the
// host has about the letters of a known one, or its shape.
bool LookAlikes::may_imitate(std::string_view host) const {
  while (!host.empty()) {
    const auto label = first_label(host);
    const auto letters = letters_of(label);
    const auto shape = shape_of(label);
    for (const Known& known : known_) {
      const auto errors = static_cast<std::size_t>(std::popcount(letters ^ known.letters) + 1) / 2;
      if (errors <= max_errors || shape == known.shape) return true;
    }
    host.remove_prefix(std::min(host.size(), label.size() + 1));
  }
  return false;
}

std::string_view LookAlikes::find(std::string_view host) const {
  for (const Known& known : known_) {
    if (is_prefix(known.name, host)) return known.name;
  }
  if (!may_imitate(host)) return {};
  const auto registered = registered_name(std::string{host});
  const auto label = first_label(registered);
  const auto shape = shape_of(label);
  for (const Known& known : known_) {
    if (registered.empty() || known.registered.empty() || registered == known.registered) continue;
    const auto theirs = first_label(known.registered);
    const auto length = std::min(label.size(), theirs.size());
    if (length < short_label) continue;
    const std::size_t most_errors = length >= long_label ? max_errors : 1;
    if (shape == known.shape || edit_distance(label, theirs, most_errors) <= most_errors) {
      return known.name;
    }
  }
  return {};
}

}  // namespace stile::acl
