// Gateway: requests and answers of etcd's JSON gateway. Keys and values are base64 there, and
// 64-bit numbers are strings.
#include "fleet/gateway.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"

namespace stile::fleet {
namespace {

using config::Node;

Error unreadable() { return Error{"the store's answer cannot be read"}; }

const Node* member(const Node* node, std::string_view key) {
  const auto* table = node == nullptr ? nullptr : node->as<Node::Table>();
  if (table == nullptr) return nullptr;
  const auto found =
      std::find_if(table->begin(), table->end(),
                   [&](const config::Member& candidate) { return candidate.key == key; });
  return found == table->end() ? nullptr : &found->value;
}

// 0 where it is missing: the gateway leaves out what is zero. nullopt: not a number.
std::optional<std::int64_t> number(const Node* node) {
  if (node == nullptr) return 0;
  if (const auto* value = node->as<std::int64_t>()) return *value;
  const auto* text = node->as<std::string>();
  if (text == nullptr || text->empty()) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool flag(const Node* node) {
  const auto* value = node == nullptr ? nullptr : node->as<bool>();
  return value != nullptr && *value;
}

// Empty where it is missing. nullopt: not base64.
std::optional<std::string> bytes(const Node* node) {
  if (node == nullptr) return std::string{};
  const auto* text = node->as<std::string>();
  return text == nullptr ? std::nullopt : from_base64(*text);
}

std::optional<Pair> pair_of(const Node* node) {
  if (node == nullptr || node->as<Node::Table>() == nullptr) return std::nullopt;
  auto key = bytes(member(node, "key")), value = bytes(member(node, "value"));
  const auto revision = number(member(node, "mod_revision"));
  if (!key || !value || !revision || key->empty()) return std::nullopt;
  return Pair{std::move(*key), std::move(*value), *revision};
}

// An object with a header; the answers of etcd all have one.
config::Checked<Node> parse(std::string_view text) {
  if (text.size() > max_answer_bytes) return config::Diagnostics{};
  return config::parse_json(text, "");
}

void add_range(JsonObject& object, const Range& range) {
  object.add("key", base64(range.first));
  if (!range.end.empty()) object.add("range_end", base64(range.end));
}

}  // namespace

Range range_below(std::string prefix) {
  Range range{prefix, std::move(prefix)};
  ++range.end.back();  // never 0xff: keys are ASCII
  return range;
}

std::string range_request(const Range& range, const RangeOptions& options) {
  std::string out;
  {
    JsonObject object{out};
    add_range(object, range);
    object.add("limit", std::to_string(options.limit));
    if (options.revision > 0) object.add("revision", std::to_string(options.revision));
    if (options.keys_only) object.add("keys_only", true);
  }
  return out;
}

Result<RangeAnswer> parse_range(std::string_view text) {
  const auto document = parse(text);
  const Node* top = document ? &*document : nullptr;
  const auto revision = number(member(member(top, "header"), "revision"));
  if (!revision || *revision <= 0) return unreadable();
  RangeAnswer answer{*revision, {}, flag(member(top, "more"))};
  const Node* list = member(top, "kvs");
  if (list == nullptr) return answer;
  if (list->as<Node::Array>() == nullptr) return unreadable();
  for (const auto& element : *list->as<Node::Array>()) {
    auto pair = pair_of(&element);
    if (!pair) return unreadable();
    answer.pairs.push_back(std::move(*pair));
  }
  return answer;
}

std::string put_request(std::string_view key, std::string_view value, std::int64_t lease) {
  std::string out;
  {
    JsonObject object{out};
    object.add("key", base64(key)).add("value", base64(value));
    if (lease != 0) object.add("lease", std::to_string(lease));
  }
  return out;
}

std::string swap_request(std::string_view key, std::string_view value, std::int64_t mod_revision) {
  std::string out;
  {
    JsonObject object{out};
    {
      JsonArray compare{object.key("compare")};
      JsonObject{compare.next()}
          .add("key", base64(key))
          .add("target", "MOD")
          .add("result", "EQUAL")
          .add("mod_revision", std::to_string(mod_revision));
    }
    JsonArray success{object.key("success")};
    JsonObject{success.next()}.key("request_put") += put_request(key, value, 0);
  }
  return out;
}

Result<bool> parse_transaction(std::string_view text) {
  const auto document = parse(text);
  const Node* top = document ? &*document : nullptr;
  if (member(top, "header") == nullptr) return unreadable();
  return flag(member(top, "succeeded"));
}

std::string grant_request(std::int64_t ttl_seconds) {
  std::string out;
  JsonObject{out}.add("TTL", std::to_string(ttl_seconds));
  return out;
}

Result<std::int64_t> parse_lease(std::string_view text) {
  const auto document = parse(text);
  const auto id = number(member(document ? &*document : nullptr, "ID"));
  if (!id || *id == 0) return unreadable();
  return *id;
}

std::string keep_request(std::int64_t lease) {
  std::string out;
  JsonObject{out}.add("ID", std::to_string(lease));
  return out;
}

Result<bool> parse_kept_lease(std::string_view text) {
  const auto document = parse(text);
  const Node* result = member(document ? &*document : nullptr, "result");
  if (result == nullptr || member(result, "header") == nullptr) return unreadable();
  const auto ttl = number(member(result, "TTL"));
  return ttl && *ttl > 0;
}

std::string login_request(std::string_view user, std::string_view password) {
  std::string out;
  JsonObject{out}.add("name", user).add("password", password);
  return out;
}

Result<std::string> parse_token(std::string_view text) {
  const auto document = parse(text);
  const Node* token = member(document ? &*document : nullptr, "token");
  const auto* value = token == nullptr ? nullptr : token->as<std::string>();
  // It goes into a header field.
  const bool is_good =
      value != nullptr && !value->empty() && value->size() <= 4096 &&
      std::all_of(value->begin(), value->end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!is_good) return unreadable();
  return text_result(*value);
}

std::string watch_request(const std::vector<Range>& ranges, std::int64_t revision) {
  std::string out;
  for (const auto& range : ranges) {
    JsonObject object{out};
    JsonObject create{object.key("create_request")};
    add_range(create, range);
    create.add("start_revision", std::to_string(revision));
  }
  return out;
}

Result<Watched> parse_watched(std::string_view line) {
  const auto document = parse(line);
  const Node* result = member(document ? &*document : nullptr, "result");
  if (result == nullptr) return unreadable();
  const auto revision = number(member(member(result, "header"), "revision"));
  if (!revision) return unreadable();
  Watched watched{*revision, {}, flag(member(result, "canceled"))};
  const Node* list = member(result, "events");
  if (list == nullptr) return watched;
  if (list->as<Node::Array>() == nullptr) return unreadable();
  for (const auto& event : *list->as<Node::Array>()) {
    const Node* type = member(&event, "type");  // left out for a written key
    if (type != nullptr && type->as<std::string>() != nullptr &&
        *type->as<std::string>() == "DELETE") {
      continue;
    }
    auto pair = pair_of(member(&event, "kv"));
    if (!pair) return unreadable();
    watched.pairs.push_back(std::move(*pair));
  }
  return watched;
}

std::string error_of(unsigned status, std::string_view text) {
  const auto document = parse(text.substr(0, 4096));
  const Node* top = document ? &*document : nullptr;
  for (const auto* key : {"error", "message"}) {
    const Node* node = member(top, key);
    if (node != nullptr && node->as<std::string>() != nullptr) {
      return printable(node->as<std::string>()->substr(0, 256));
    }
  }
  return "status " + std::to_string(status);
}

}  // namespace stile::fleet
