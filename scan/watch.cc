// Watch: all that is looked for in the requests of one agent.
#include "scan/watch.h"

#include <algorithm>

#include "base/encoded_forms.h"
#include "base/wipe.h"
#include "scan/bits.h"
#include "scan/numbers.h"

namespace stile::scan {
namespace {

// A card number; all other shapes are longer. Values can be shorter.
constexpr std::size_t shortest_shape = 14;

}  // namespace

Texts::Texts(std::shared_ptr<const ScanRules> rules,
             std::vector<std::shared_ptr<const SecretBytes>> secrets,
             const std::vector<std::string>& placeholders)
    : rules_{std::move(rules)}, secrets_{std::move(secrets)} {
  struct Part {
    std::size_t size;
    Found bit;
  };
  struct Value {
    std::vector<std::string> forms;
    Found bit;
  };
  std::vector<Value> all;
  all.reserve(secrets_.size() + placeholders.size());
  std::size_t size = 0;
  const auto add = [&](std::string_view value, std::size_t number) {
    all.push_back({encoded_forms(value), bit_of(number)});
    for (const std::string& form : all.back().forms) size += form.size();
  };
  for (const auto& secret : secrets_) {
    if (secret) add(secret->view(), secrets_number);
  }
  for (const auto& placeholder : placeholders) add(placeholder, placeholders_number);
  std::string values;
  values.reserve(size);  // a text that grows leaves copies of itself behind
  std::vector<Part> parts;
  least_text_ = rules_->has_expressions() ? 0 : shortest_shape;
  for (Value& value : all) {
    for (std::string& form : value.forms) {
      if (form.size() >= Anchors::least_bytes) {
        values += form;
        parts.push_back({form.size(), value.bit});
        longest_ = std::max(longest_, form.size());
        least_text_ = std::min(least_text_, form.size());
        if (!std::all_of(form.begin(), form.end(), is_text)) least_text_ = 0;
      }
      wipe(form);
    }
  }
  if (least_text_ < shortest_text) least_text_ = 0;
  values_ = std::make_unique<const SecretBytes>(values);
  wipe(values);

  std::vector<std::string_view> anchors;
  std::size_t at = 0;
  for (const Part& part : parts) {
    anchors.push_back(values_->view().substr(at, part.size));
    rows_.push_back({nullptr, part.bit});
    at += part.size;
  }
  for (const Shape& shape : shapes()) {
    if (rules_->of(shape.set) == 0) continue;
    anchors.push_back(shape.first);
    rows_.push_back({&shape, rules_->of(shape.set)});
  }
  anchors_ = std::make_unique<const Anchors>(anchors);
}

Found Texts::look_at(std::string_view text, std::size_t from, std::size_t to,
                     SeedPhrases& phrases) const {
  Found found = 0;
  anchors_->visit(text, from, to, [&](std::size_t number, std::size_t at) {
    const Row& row = rows_[number];
    if ((found & row.bit) == 0 &&
        (row.shape == nullptr || row.shape->matches(text, at, *row.shape))) {
      found |= row.bit;
    }
  });
  const Found payment = rules_->of(Set::payment), wallets = rules_->of(Set::wallets);
  if (payment != 0 && has_payment(text, from, to)) found |= payment;
  if (wallets != 0 && (has_wallet(text, from, to) || phrases.look_up_to(to))) found |= wallets;
  return found;
}

std::shared_ptr<const Texts> Watch::texts() const {
  std::vector<std::shared_ptr<const SecretBytes>> values;
  values.reserve(secrets_.size());
  for (const auto& secret : secrets_) values.push_back(secret->value->get());
  const std::lock_guard lock{mutex_};
  if (!texts_ || texts_->secrets() != values) {
    texts_ = std::make_shared<const Texts>(rules_, std::move(values), placeholders_);
  }
  return texts_;
}

}  // namespace stile::scan
