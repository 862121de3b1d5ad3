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

// 0 where it is missing: the gateway leaves out what is zero. nullopt: not a number.
std::optional<std::int64_t> number_in(const Node& object, std::string_view key) {
  const Node* node = object.find(key);
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

// Empty where it is missing. nullopt: not base64.
std::optional<std::string> bytes_in(const Node& object, std::string_view key) {
  if (object.find(key) == nullptr) return std::string{};
  const auto* text = object.get<std::string>(key);
  return text == nullptr ? std::nullopt : from_base64(*text);
}

std::optional<Pair> pair_of(const Node& node) {
  if (node.as<Node::Table>() == nullptr) return std::nullopt;
  auto key = bytes_in(node, "key"), value = bytes_in(node, "value");
  const auto revision = number_in(node, "mod_revision");
  if (!key || !value || !revision || key->empty()) return std::nullopt;
  return Pair{std::move(*key), std::move(*value), *revision};
}

// Missing, or a list.
bool may_be_list(const Node& object, std::string_view key) {
  return object.find(key) == nullptr || object.get<Node::Array>(key) != nullptr;
}

// A null if it is not JSON.
Node parse(std::string_view text) {
  return text.size() > max_answer_bytes ? Node{} : config::json_or_null(text);
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
  const auto top = parse(text);
  const auto revision = number_in(top.at("header"), "revision");
  if (!revision || *revision <= 0 || !may_be_list(top, "kvs")) return unreadable();
  RangeAnswer answer{*revision, {}, top.flag("more")};
  for (const auto& element : top.list("kvs")) {
    auto pair = pair_of(element);
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
  const auto top = parse(text);
  if (top.find("header") == nullptr) return unreadable();
  return top.flag("succeeded");
}

std::string grant_request(std::int64_t ttl_seconds) {
  std::string out;
  JsonObject{out}.add("TTL", std::to_string(ttl_seconds));
  return out;
}

Result<std::int64_t> parse_lease(std::string_view text) {
  const auto id = number_in(parse(text), "ID");
  if (!id || *id == 0) return unreadable();
  return *id;
}

std::string keep_request(std::int64_t lease) {
  std::string out;
  JsonObject{out}.add("ID", std::to_string(lease));
  return out;
}

Result<bool> parse_kept_lease(std::string_view text) {
  const auto top = parse(text);
  const Node& result = top.at("result");
  if (result.find("header") == nullptr) return unreadable();
  const auto ttl = number_in(result, "TTL");
  return ttl && *ttl > 0;
}

std::string login_request(std::string_view user, std::string_view password) {
  std::string out;
  JsonObject{out}.add("name", user).add("password", password);
  return out;
}

Result<std::string> parse_token(std::string_view text) {
  const auto top = parse(text);
  const auto* value = top.get<std::string>("token");
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
  const auto top = parse(line);
  if (top.find("result") == nullptr) return unreadable();
  const Node& result = top.at("result");
  const auto revision = number_in(result.at("header"), "revision");
  if (!revision || !may_be_list(result, "events")) return unreadable();
  Watched watched{*revision, {}, result.flag("canceled")};
  for (const auto& event : result.list("events")) {
    if (event.text("type") == "DELETE") continue;  // left out for a written key
    auto pair = pair_of(event.at("kv"));
    if (!pair) return unreadable();
    watched.pairs.push_back(std::move(*pair));
  }
  return watched;
}

std::string error_of(unsigned status, std::string_view text) {
  const auto top = parse(text.substr(0, 4096));
  for (const auto* key : {"error", "message"}) {
    if (const auto* said = top.get<std::string>(key)) return printable(said->substr(0, 256));
  }
  return "status " + std::to_string(status);
}

}  // namespace stile::fleet
