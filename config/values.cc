// Single values: reads and prints them.
#include "config/values.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "config/endpoint.h"

namespace stile::config {
namespace {

template <class T>
struct Word {
  std::string_view text;
  T value;
};

template <class T>
std::optional<T> read_word(const Node& node, const Reader& reader, std::string_view expected,
                           std::initializer_list<Word<T>> words) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, expected);
  std::vector<std::string_view> known;
  for (const auto& word : words) {
    if (word.text == *text) return word.value;
    known.push_back(word.text);
  }
  const auto meant = nearest(*text, known);
  return reader.error(node, in_quotes(*text) + " is not " + std::string{expected},
                      meant.empty() ? "" : "did you mean " + in_quotes(meant) + "?");
}

}  // namespace

std::optional<bool> Boolean::read(const Node& node, const Reader& reader) {
  if (const auto* value = node.as<bool>()) return *value;
  return reader.wrong_type(node, "true or false");
}

std::optional<std::int64_t> read_integer(const Node& node, const Reader& reader, std::int64_t least,
                                         std::int64_t most) {
  const auto* value = node.as<std::int64_t>();
  if (value == nullptr) return reader.wrong_type(node, "an integer");
  if (*value < least || *value > most) {
    return reader.error(node, std::to_string(*value) + " is out of range",
                        "from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

std::optional<std::uint16_t> Port::read(const Node& node, const Reader& reader) {
  const auto value = read_integer(node, reader, 1, std::numeric_limits<std::uint16_t>::max());
  return value ? std::optional{static_cast<std::uint16_t>(*value)} : std::nullopt;
}

std::optional<std::uint64_t> Size::read(const Node& node, const Reader& reader) {
  if (const auto* value = node.as<std::int64_t>()) {
    if (*value >= 0) return static_cast<std::uint64_t>(*value);
    return reader.error(node, std::to_string(*value) + " is out of range", "0 or more");
  }
  const auto* text = node.as<std::string>();
  if (text == nullptr) {
    return reader.wrong_type(node, "a number of bytes or a string like \"50MiB\"");
  }
  const auto size = parse_size(*text);
  if (!size) return reader.error(node, in_quotes(*text) + ": " + size.error().message);
  return *size;
}

std::string Size::print(std::uint64_t value) { return '"' + size_text(value) + '"'; }

std::optional<std::optional<std::uint64_t>> Budget::read(const Node& node, const Reader& reader) {
  if (const auto* text = node.as<std::string>(); text != nullptr && text->empty()) {
    return std::optional<std::uint64_t>{};
  }
  const auto size = Size::read(node, reader);
  return size ? std::optional{size} : std::nullopt;
}

std::string Budget::print(const std::optional<std::uint64_t>& value) {
  return value ? Size::print(*value) : "\"\"";
}

std::optional<std::string> Text::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text->begin(), text->end(), is_control)) {
    return reader.error(node, "a control character in " + in_quotes(*text));
  }
  return *text;
}

std::string Text::print(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::optional<std::string> Path::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (!text) return std::nullopt;
  if (text->empty()) return reader.error(node, "must not be empty");
  if (text->front() == '/') return text;
  if (!reader.directory) return reader.error(node, in_quotes(*text) + " must begin with /");
  return (std::filesystem::path{*reader.directory} / *text).string();
}

std::optional<std::string> PathOrDash::read(const Node& node, const Reader& reader) {
  if (const auto* text = node.as<std::string>(); text != nullptr && *text == "-") return *text;
  return Path::read(node, reader);
}

std::optional<std::uint32_t> FileMode::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string like \"0660\"");
  std::uint32_t mode = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, problem] = std::from_chars(text->data(), end, mode, 8);
  if (text->size() < 3 || text->size() > 4 || problem != std::errc{} || stop != end ||
      mode > 0777) {
    return reader.error(node, in_quotes(*text) + " is not a mode",
                        "three or four octal digits, 0777 at most, like \"0660\"");
  }
  return mode;
}

std::string FileMode::print(std::uint32_t value) {
  std::string text = "\"0000\"";
  for (std::size_t digit = 0; digit < 3; ++digit) {
    text[4 - digit] = static_cast<char>('0' + (value >> (3 * digit) & 7));
  }
  return text;
}

std::optional<std::string> AgentId::read(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  if (is_plain_id(*text)) return *text;
  return reader.error(node, in_quotes(*text) + " is not an id",
                      "1 to 64 of a-z, 0-9 and -, not beginning or ending with -");
}

std::optional<UnixMicros> Expiry::read(const Node& node, const Reader& reader) {
  constexpr std::string_view example = "2026-12-31T00:00:00Z";
  if (const auto* time = node.as<Timestamp>()) return time->micros;
  const auto* text = node.as<std::string>();
  if (text == nullptr) {
    return reader.wrong_type(node, "a date and time like " + std::string{example});
  }
  if (const auto time = parse_time(*text)) return time;
  return reader.error(node, in_quotes(*text) + " is not a date and time",
                      "like " + std::string{example});
}

std::string Expiry::print(UnixMicros value) { return time_text(value); }

std::optional<std::optional<Endpoint>> OptionalEndpoint::read(const Node& node,
                                                              const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string like \"127.0.0.1:9128\"");
  if (text->empty()) return std::optional<Endpoint>{};
  const auto endpoint = parse_endpoint(*text);
  if (!endpoint) return reader.error(node, in_quotes(*text) + ": " + endpoint.error().message);
  if (!endpoint->unix_path.empty()) {
    return reader.error(node, in_quotes(*text) + " must be a TCP address", "like 127.0.0.1:9128");
  }
  return std::optional{*endpoint};
}

std::string OptionalEndpoint::print(const std::optional<Endpoint>& value) {
  return '"' + (value ? value->text() : "") + '"';
}

std::optional<acl::Mode> ModeWord::read(const Node& node, const Reader& reader) {
  return read_word<acl::Mode>(node, reader, type,
                              {{"enforce", acl::Mode::enforce},
                               {"observe", acl::Mode::observe},
                               {"offline", acl::Mode::offline}});
}

std::string ModeWord::print(acl::Mode value) { return '"' + std::string{acl::text(value)} + '"'; }

std::optional<bool> SniWord::read(const Node& node, const Reader& reader) {
  return read_word<bool>(node, reader, type, {{"match", true}, {"off", false}});
}

std::optional<bool> UnlistedWord::read(const Node& node, const Reader& reader) {
  return read_word<bool>(node, reader, type, {{"refuse", false}, {"ask", true}});
}

std::optional<AuditFormat> AuditFormatWord::read(const Node& node, const Reader& reader) {
  return read_word<AuditFormat>(node, reader, type,
                                {{"json", AuditFormat::json}, {"squid", AuditFormat::squid}});
}

std::string AuditFormatWord::print(AuditFormat value) {
  return value == AuditFormat::json ? "\"json\"" : "\"squid\"";
}

std::optional<bool> OnFailureWord::read(const Node& node, const Reader& reader) {
  return read_word<bool>(node, reader, type, {{"deny", true}, {"continue", false}});
}

}  // namespace stile::config
