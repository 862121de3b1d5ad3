// Envelope: strict parsing by writing again and comparing.
#include "fleet/envelope.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/contains.h"
#include "base/json.h"
#include "config/fleet_values.h"
#include "config/json_loader.h"
#include "fleet/canonical.h"

namespace stile::fleet {
namespace {

using config::Node;

constexpr std::size_t signer_digits = 64;

Error invalid(const std::string& why) { return Error{"not an envelope: " + why}; }

std::optional<UnixMicros> time_in(const Node& object, std::string_view key) {
  const auto* text = object.get<std::string>(key);
  return text == nullptr ? std::nullopt : parse_time(*text);
}

std::optional<std::vector<std::string>> names_in(const Node& object, std::string_view key) {
  const auto* list = object.get<Node::Array>(key);
  if (list == nullptr || list->size() > max_targets) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& element : *list) {
    const auto* name = element.as<std::string>();
    if (name == nullptr || !config::is_fleet_name(*name)) return std::nullopt;
    names.push_back(*name);
  }
  return names;
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void append_members(std::string& out, std::string_view name, const Envelope& envelope,
                    bool with_signature) {
  JsonObject object{out};
  object.key("body") += envelope.body;
  object.add("hosts", envelope.hosts).add("labels", envelope.labels);
  if (!name.empty()) object.add("name", name);
  object.add("not_after", time_text(envelope.not_after));
  object.add("not_before", time_text(envelope.not_before));
  object.add("serial", envelope.serial);
  if (with_signature) object.add("signature", base64(envelope.signature));
  object.add("signer", envelope.signer);
}

}  // namespace

bool is_object_name(std::string_view name) {
  constexpr std::string_view policy = "policy/";
  return name == "switch" ||
         (name.starts_with(policy) && name.find('.') == std::string_view::npos &&
          config::is_fleet_name(name.substr(policy.size())));
}

std::string envelope_text(const Envelope& envelope) {
  std::string out;
  append_members(out, {}, envelope, true);
  return out;
}

std::string signed_bytes(std::string_view name, const Envelope& envelope) {
  std::string out = "stile fleet object 1\n";
  append_members(out, name, envelope, false);
  return out;
}

Result<Envelope> parse_envelope(std::string_view text) {
  if (text.size() > max_envelope_bytes) return invalid("larger than 1 MiB");
  const auto document = config::parse_json(text, "");
  if (!document) return invalid("not JSON");
  if (document->as<Node::Table>() == nullptr) return invalid("not an object");
  Envelope envelope;
  const auto* serial = document->get<std::int64_t>("serial");
  if (serial == nullptr || *serial < 1 || static_cast<std::uint64_t>(*serial) > max_serial) {
    return invalid("serial: expected a number from 1");
  }
  envelope.serial = static_cast<std::uint64_t>(*serial);
  const auto from = time_in(*document, "not_before"), until = time_in(*document, "not_after");
  if (!from || !until) return invalid("not_before, not_after: expected times");
  if (*from >= *until) return invalid("not_after is not after not_before");
  envelope.not_before = *from;
  envelope.not_after = *until;
  auto hosts = names_in(*document, "hosts"), labels = names_in(*document, "labels");
  if (!hosts || !labels) return invalid("hosts, labels: expected lists of names");
  envelope.hosts = std::move(*hosts);
  envelope.labels = std::move(*labels);
  const Node* body = document->find("body");
  if (body == nullptr || body->as<Node::Table>() == nullptr) {
    return invalid("body: expected an object");
  }
  auto body_text = canonical_text(*body);
  if (!body_text) return invalid("body: " + body_text.error().message);
  envelope.body = std::move(*body_text);
  const auto* signer = document->get<std::string>("signer");
  if (signer == nullptr || signer->size() != signer_digits || !is_hex(*signer)) {
    return invalid("signer: expected a fingerprint");
  }
  envelope.signer = *signer;
  const auto* signature = document->get<std::string>("signature");
  const auto raw = signature == nullptr ? std::nullopt : from_base64(*signature);
  if (!raw || raw->size() != signature_bytes) return invalid("signature: expected 64 bytes");
  envelope.signature = *raw;
  // Another order, spelling or member would be a second text of the same object.
  if (envelope_text(envelope) != text) return invalid("not in its canonical form");
  return envelope;
}

bool applies_to(const Envelope& envelope, std::string_view host,
                const std::vector<std::string>& labels) {
  if (envelope.hosts.empty() && envelope.labels.empty()) return true;
  const auto& hosts = envelope.hosts;
  if (contains(hosts, host)) return true;
  return std::any_of(envelope.labels.begin(), envelope.labels.end(),
                     [&](const auto& label) { return contains(labels, label); });
}

}  // namespace stile::fleet
