// FenceRecords: the journal of what `stile-netns` created, one file per agent in /run/stile/netns.
#include "netns/records.h"

#include <string_view>

#include "base/ascii.h"
#include "base/files.h"
#include "config/card.h"
#include "netns/root_directory.h"

namespace stile::netns {
namespace {

constexpr const char* directory_path = "/run/stile/netns";
constexpr char separator = '@';
constexpr std::size_t most_record_bytes = 128U << 10U;  // a card has 64 KiB at most

std::string name_of(const Agent& agent) { return agent.id + separator + agent.address.text(); }

std::optional<FenceRecords::Owner> owner_of(const std::string& name) {
  const auto at = name.find(separator);
  if (at == std::string::npos) return std::nullopt;
  const auto address = acl::Address::parse(std::string_view{name}.substr(at + 1));
  const auto id = name.substr(0, at);
  if (!address || !is_plain_id(id)) return std::nullopt;
  return FenceRecords::Owner{id, *address};
}

// The value of a line "key=value"; empty: there is none.
std::string value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) {
      return std::string{line.substr(key.size() + 1)};
    }
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return {};
}

}  // namespace

std::optional<UnixMicros> expiry_of(const FenceRecord& record) {
  if (record.card.empty()) return std::nullopt;
  const auto card = config::parse_card(record.card, {"card", 0, {}});
  return card ? card->expires : std::nullopt;
}

Result<FenceRecords> FenceRecords::open() {
  auto directory = open_directory(directory_path, 0700);
  if (!directory) return directory.error();
  return FenceRecords{std::move(*directory)};
}

Result<std::vector<FenceRecords::Owner>> FenceRecords::owners() const {
  const auto names = names_in(directory_.get());
  if (!names)
    return Error{std::string{"cannot read "} + directory_path + ": " + names.error().message};
  std::vector<Owner> owners;
  for (const auto& name : *names) {
    if (auto owner = owner_of(name)) owners.push_back(std::move(*owner));
  }
  return owners;
}

Result<FenceRecord> FenceRecords::read(const Owner& owner) const {
  FenceRecord record{{owner.id, owner.address, {}, false}, false, {}, {}};
  const auto text = read_file(directory_.get(), name_of(record.agent), most_record_bytes);
  if (!text) return text.error();
  if (*text) {
    record.agent.instance = value_of(**text, "instance");
    record.agent.is_captured = value_of(**text, "capture") == "yes";
    record.bound_by = value_of(**text, "bound_by");
    record.card = value_of(**text, "card");
    record.is_complete = value_of(**text, "state") == "complete";
  }
  return record;
}

Result<std::vector<FenceRecord>> FenceRecords::all() const {
  const auto known = owners();
  if (!known) return known.error();
  std::vector<FenceRecord> records;
  for (const auto& owner : *known) {
    auto record = read(owner);
    if (!record) return record.error();
    records.push_back(std::move(*record));
  }
  return records;
}

Result<std::optional<FenceRecord>> FenceRecords::find(const std::string& id) const {
  const auto known = owners();
  if (!known) return known.error();
  for (const auto& owner : *known) {
    if (owner.id != id) continue;
    auto record = read(owner);
    if (!record) return record.error();
    return std::optional{std::move(*record)};
  }
  return std::optional<FenceRecord>{};
}

Result<void> FenceRecords::write(const FenceRecord& record) const {
  if ((record.bound_by + record.card).find('\n') != std::string::npos) {
    return Error{"a line break in " + record.bound_by};
  }
  const std::string text = "instance=" + record.agent.instance +
                           "\ncapture=" + (record.agent.is_captured ? "yes" : "no") +
                           "\nbound_by=" + record.bound_by + "\ncard=" + record.card +
                           "\nstate=" + (record.is_complete ? "complete" : "incomplete") + "\n";
  return replace_file(directory_.get(), name_of(record.agent), text, 0600, FileOwner{0, 0});
}

Result<void> FenceRecords::remove(const Agent& agent) const {
  const auto removed = remove_file(directory_.get(), name_of(agent));
  if (!removed) return removed.error();
  return {};
}

}  // namespace stile::netns
