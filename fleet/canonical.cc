// canonical: the one text of a JSON document that is signed.
#include "fleet/canonical.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "base/unix_time.h"

namespace stile::fleet {
namespace {

using config::Node;

class Writer {
 public:
  [[nodiscard]] bool write(const Node& node) {
    return std::visit([this](const auto& value) { return add(value); }, node.value);
  }
  std::string out, problem;

 private:
  bool add(const config::Unusable& other) { return refuse(std::string{other.name}); }
  bool add(bool value) {
    out += value ? "true" : "false";
    return true;
  }
  bool add(std::int64_t value) {
    out += std::to_string(value);
    return true;
  }
  bool add(double) { return refuse("a number with a fraction"); }
  bool add(const std::string& value) {
    append_quoted(out, value);
    return true;
  }
  bool add(const config::Timestamp& value) {
    append_quoted(out, time_text(value.micros));
    return true;
  }
  bool add(const Node::Array& values) {
    JsonArray array{out};
    return std::all_of(values.begin(), values.end(), [&](const Node& value) {
      array.next();
      return write(value);
    });
  }
  bool add(const Node::Table& members) {
    std::vector<const config::Member*> sorted;
    for (const auto& member : members) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->key < b->key; });
    JsonObject object{out};
    return std::all_of(sorted.begin(), sorted.end(), [&](const config::Member* member) {
      object.key(member->key);
      return write(member->value);
    });
  }
  bool refuse(const std::string& what) {
    problem = what + " cannot be signed";
    return false;
  }
};

}  // namespace

Result<std::string> canonical_text(const Node& node) {
  Writer writer;
  if (!writer.write(node)) return Error{writer.problem};
  return text_result(std::move(writer.out));
}

}  // namespace stile::fleet
