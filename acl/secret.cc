// Secret: a credential that Stile puts into requests, and its value.
#include "acl/secret.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/sha256.h"
#include "base/wipe.h"

namespace stile::acl {
namespace {

constexpr std::size_t least_value = 8, most_value = 16384;

// Clients check the beginning, some the length, before they send a key.
struct Shape {
  std::string_view host;  // its name, or the end of it
  std::string_view before;
  std::size_t random;
  std::string_view after;
};
constexpr std::array shapes{
    Shape{"anthropic.com", "sk-ant-api03-", 93, "AA"},
    Shape{"openai.com", "sk-proj-", 48, ""},
    Shape{"github.com", "ghp_", 36, ""},
    Shape{"githubusercontent.com", "ghp_", 36, ""},
    Shape{"gitlab.com", "glpat-", 20, ""},
    Shape{"googleapis.com", "AIzaSy", 33, ""},
    Shape{"huggingface.co", "hf_", 34, ""},
    Shape{"npmjs.org", "npm_", 36, ""},
    Shape{"openrouter.ai", "sk-or-v1-", 64, ""},
};
constexpr Shape other_shape{"", "stile-placeholder-", 32, ""};

bool is_at(std::string_view name, std::string_view host) {
  return name == host || (name.ends_with(host) && name[name.size() - host.size() - 1] == '.');
}

const Shape& shape_of(const Secret& secret) {
  for (const auto& host : secret.hosts) {
    const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const Shape& shape) {
      return is_at(host.name, shape.host);
    });
    if (found != shapes.end()) return *found;
  }
  return other_shape;
}

}  // namespace

std::shared_ptr<const SecretBytes> SecretValue::get() const {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

void SecretValue::set(std::string_view value, std::int64_t now_us) {
  auto bytes = std::make_shared<const SecretBytes>(value);
  const std::lock_guard lock{mutex_};
  bytes_.swap(bytes);
  changed_us_ = now_us;
}

void SecretValue::clear() {
  std::shared_ptr<const SecretBytes> none;
  const std::lock_guard lock{mutex_};
  bytes_.swap(none);
}

std::int64_t SecretValue::changed_us() const {
  const std::lock_guard lock{mutex_};
  return changed_us_;
}

void SecretValue::note_use(std::int64_t now_us) noexcept {
  const std::lock_guard lock{mutex_};
  used_us_ = now_us;
}

std::int64_t SecretValue::used_us() const {
  const std::lock_guard lock{mutex_};
  return used_us_;
}

// Room is made first: a text that grows leaves copies of its beginning in memory.
std::string Secret::header_value(std::string_view secret) const {
  std::string text;
  if (!basic_user.empty()) {
    std::string plain;
    plain.reserve(basic_user.size() + 1 + secret.size());
    plain.append(basic_user).append(":").append(secret);
    std::string encoded = base64(plain);
    text.reserve(6 + encoded.size());
    text.append("Basic ").append(encoded);
    wipe(plain);
    wipe(encoded);
    return text;
  }
  const std::size_t hole = format.find("{}");
  text.reserve(format.size() + secret.size());
  text.append(format, 0, hole).append(secret);
  if (hole != std::string::npos) text.append(format, hole + 2);
  return text;
}

std::string placeholder_of(std::string_view agent, const Secret& secret) {
  if (!secret.placeholder.empty()) return secret.placeholder;
  const Shape& shape = shape_of(secret);
  std::string text{shape.before}, seed;
  for (char round = '0'; text.size() < shape.before.size() + shape.random; ++round) {
    seed.assign("stile placeholder ").append(agent).append(" ").append(secret.name) += round;
    text += sha256_text(seed);
  }
  text.resize(shape.before.size() + shape.random);
  return text.append(shape.after);
}

Result<void> check_secret_value(std::string_view value) {
  if (value.size() < least_value) return Error{"a secret has at least 8 bytes"};
  if (value.size() > most_value) return Error{"a secret has at most 16 KiB"};
  const bool is_text =
      std::all_of(value.begin(), value.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!is_text) return Error{"a secret consists of visible ASCII characters, on one line"};
  return {};
}

}  // namespace stile::acl
