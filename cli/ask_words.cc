// An ask of the daemon in words.
#include "cli/ask_words.h"

#include "base/quoted.h"

namespace stile::cli {

bool is_for_one_request(const Json& ask) {
  const auto reason = text_of(ask, "reason");
  return reason == "method-not-allowed" || reason == "path-not-allowed";
}

std::string wanted(const Json& ask) {
  const auto scheme = text_of(ask, "scheme");
  std::string text = text_of(ask, "host") + ':' + text_of(ask, "port");
  if (scheme != "connect") text.insert(0, scheme + "://");
  if (is_for_one_request(ask)) text = text_of(ask, "method") + ' ' + text + text_of(ask, "path");
  return printable(text);
}

std::string likeness(const Json& ask) {
  const auto name = text_of(ask, "looks_like");
  return name.empty() ? std::string{} : "looks like " + printable(name) + ", which is allowed";
}

std::string agents_words(const Json& ask) {
  const auto words = text_of(ask, "agent_reason");
  const auto by = text_of(ask, "asked_by");
  std::string text = words.empty() ? std::string{} : '"' + printable(words) + '"';
  if (!by.empty()) text += (text.empty() ? "" : " ") + ("asked by " + printable(by));
  return text;
}

}  // namespace stile::cli
