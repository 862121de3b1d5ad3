// BrowserSessions: a few dozen entries, searched one by one.
#include "web/sessions.h"

#include <algorithm>

#include "base/random.h"
#include "base/sha256.h"

namespace stile::web {
namespace {

constexpr std::size_t secret_bytes = 32;

}  // namespace

void BrowserSessions::forget_expired(Time now) {
  std::erase_if(tokens_, [now](const Token& token) { return token.end <= now; });
  std::erase_if(sessions_, [now](const Session& session) { return session.end <= now; });
}

std::string BrowserSessions::new_token(Time now) {
  forget_expired(now);
  if (tokens_.size() == max_tokens) tokens_.pop_front();
  auto token = random_hex(secret_bytes);
  tokens_.push_back({sha256_text(token), now + token_life});
  return token;
}

std::optional<BrowserSessions::Keys> BrowserSessions::log_in(std::string_view token, Time now) {
  forget_expired(now);
  const auto found =
      std::find_if(tokens_.begin(), tokens_.end(),
                   [hash = sha256_text(token)](const Token& one) { return one.hash == hash; });
  if (found == tokens_.end()) return std::nullopt;
  tokens_.erase(found);
  if (sessions_.size() == max_sessions) sessions_.pop_front();
  Keys keys{random_hex(secret_bytes), random_hex(secret_bytes)};
  sessions_.push_back({sha256_text(keys.cookie), sha256_text(keys.csrf), now + session_life});
  return keys;
}

const BrowserSessions::Session* BrowserSessions::find(std::string_view cookie, Time now) {
  forget_expired(now);
  const auto found =
      std::find_if(sessions_.begin(), sessions_.end(),
                   [hash = sha256_text(cookie)](const Session& one) { return one.cookie == hash; });
  return found == sessions_.end() ? nullptr : &*found;
}

bool BrowserSessions::has(std::string_view cookie, Time now) {
  return find(cookie, now) != nullptr;
}

bool BrowserSessions::proves(std::string_view cookie, std::string_view csrf, Time now) {
  const auto* session = find(cookie, now);
  return session != nullptr && is_sha256_of(csrf, session->csrf);
}

void BrowserSessions::log_out(std::string_view cookie) {
  std::erase_if(sessions_,
                [hash = sha256_text(cookie)](const Session& one) { return one.cookie == hash; });
}

}  // namespace stile::web
