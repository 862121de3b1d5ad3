// Values: reads and prints each kind of setting. A kind is a struct with a name for people, `read`
// and `print`; the schema ties keys to kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/reader.h"
#include "config/settings.h"

namespace stile::config {

// Every read() reports its error to the reader and returns nullopt when a value cannot be used.
// Every print() gives TOML that reads back as the same value.

struct Boolean {
  static constexpr std::string_view type = "boolean";
  static std::optional<bool> read(const Node& node, const Reader& reader);
  static std::string print(bool value) { return value ? "true" : "false"; }
};

std::optional<std::int64_t> read_integer(const Node& node, const Reader& reader, std::int64_t least,
                                         std::int64_t most);

template <std::int64_t Least, std::int64_t Most>
struct Integer {
  static constexpr std::string_view type = "integer";
  static std::optional<std::uint32_t> read(const Node& node, const Reader& reader) {
    static_assert(Least >= 0 && Most <= UINT32_MAX);
    const auto value = read_integer(node, reader, Least, Most);
    return value ? std::optional{static_cast<std::uint32_t>(*value)} : std::nullopt;
  }
  static std::string print(std::uint32_t value) { return std::to_string(value); }
};

struct Port {
  static constexpr std::string_view type = "port";
  static std::optional<std::uint16_t> read(const Node& node, const Reader& reader);
  static std::string print(std::uint16_t value) { return std::to_string(value); }
};

// A number whose unit is in the key's name: timeout_ms, max_ttl_seconds.
template <class Duration, std::int64_t Least, std::int64_t Most>
struct Count {
  static constexpr std::string_view type = "integer";
  static std::optional<Duration> read(const Node& node, const Reader& reader) {
    const auto value = read_integer(node, reader, Least, Most);
    return value ? std::optional{Duration{*value}} : std::nullopt;
  }
  static std::string print(Duration value) { return std::to_string(value.count()); }
};

struct Size {  // bytes as a number or a string with a unit
  static constexpr std::string_view type = "size";
  static std::optional<std::uint64_t> read(const Node& node, const Reader& reader);
  static std::string print(std::uint64_t value);
};

struct Budget {  // a size; "": no budget
  static constexpr std::string_view type = "size";
  static std::optional<std::optional<std::uint64_t>> read(const Node& node, const Reader& reader);
  static std::string print(const std::optional<std::uint64_t>& value);
};

struct Text {  // may be empty
  static constexpr std::string_view type = "string";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value);
};

struct Path {
  static constexpr std::string_view type = "path";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct PathOrDash {  // "-" is standard output
  static constexpr std::string_view type = "path or \"-\"";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) { return Text::print(value); }
};

struct FileMode {  // as chmod(1) takes it
  static constexpr std::string_view type = "octal mode";
  static std::optional<std::uint32_t> read(const Node& node, const Reader& reader);
  static std::string print(std::uint32_t value);
};

struct AgentId {
  static constexpr std::string_view type = "id";
  static std::optional<std::string> read(const Node& node, const Reader& reader);
  static std::string print(const std::string& value) {
    return value.empty() ? "" : Text::print(value);
  }
};

struct Expiry {
  static constexpr std::string_view type = "date and time";
  static std::optional<UnixMicros> read(const Node& node, const Reader& reader);
  static std::string print(UnixMicros value);
};

struct OptionalEndpoint {  // "": none
  static constexpr std::string_view type = "address:port or \"\"";
  static std::optional<std::optional<Endpoint>> read(const Node& node, const Reader& reader);
  static std::string print(const std::optional<Endpoint>& value);
};

// Kinds with a fixed list of words.
struct ModeWord {
  static constexpr std::string_view type = "\"enforce\", \"observe\" or \"offline\"";
  static std::optional<acl::Mode> read(const Node& node, const Reader& reader);
  static std::string print(acl::Mode value);
};
struct SniWord {
  static constexpr std::string_view type = "\"match\" or \"off\"";
  static std::optional<bool> read(const Node& node, const Reader& reader);
  static std::string print(bool checks) { return checks ? "\"match\"" : "\"off\""; }
};
struct UnlistedWord {
  static constexpr std::string_view type = "\"refuse\" or \"ask\"";
  static std::optional<bool> read(const Node& node, const Reader& reader);
  static std::string print(bool asks) { return asks ? "\"ask\"" : "\"refuse\""; }
};
struct AuditFormatWord {
  static constexpr std::string_view type = "\"json\" or \"squid\"";
  static std::optional<AuditFormat> read(const Node& node, const Reader& reader);
  static std::string print(AuditFormat value);
};
struct OnFailureWord {
  static constexpr std::string_view type = "\"deny\" or \"continue\"";
  static std::optional<bool> read(const Node& node, const Reader& reader);
  static std::string print(bool denies) { return denies ? "\"deny\"" : "\"continue\""; }
};

}  // namespace stile::config
