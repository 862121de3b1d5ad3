// Makes ClientHellos for tests: whole ones, and ones with a single thing wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace stile::tls {

inline std::string big_endian(std::size_t value, std::size_t width) {
  std::string text(width, '\0');
  for (std::size_t i = 0; i < width; ++i) {
    text[width - 1 - i] = static_cast<char>(value >> (8 * i) & 0xff);
  }
  return text;
}

// A length of `width` bytes, then the content.
inline std::string prefixed(std::string_view content, std::size_t width) {
  return big_endian(content.size(), width) + std::string{content};
}

inline std::string extension(std::size_t type, std::string_view content) {
  return big_endian(type, 2) + prefixed(content, 2);
}

inline std::string name_entry(std::string_view name, char type = '\0') {
  return type + prefixed(name, 2);
}

inline std::string server_name(std::string_view name) {
  return extension(0, prefixed(name_entry(name), 2));
}

struct HelloParts {
  std::string version = "\x03\x03";
  std::string random = std::string(32, 'r');
  std::string session_id = std::string(32, 's');
  std::string cipher_suites = std::string{"\x13\x01\x13\x02", 4};
  std::string compression = std::string(1, '\0');
  std::string extensions = server_name("origin.test");
  bool with_extensions = true;

  [[nodiscard]] std::string body() const {
    std::string text = version + random + prefixed(session_id, 1) + prefixed(cipher_suites, 2) +
                       prefixed(compression, 1);
    return with_extensions ? text + prefixed(extensions, 2) : text;
  }
};

inline std::string message(std::string_view body, char type = '\x01') {
  return type + prefixed(body, 3);
}

inline std::string record(std::string_view payload, char type = '\x16') {
  return std::string{type} + "\x03\x01" + prefixed(payload, 2);
}

// The message over records of at most `size` payload bytes.
inline std::string in_records(std::string_view text, std::size_t size) {
  std::string stream;
  for (std::size_t at = 0; at < text.size(); at += size) stream += record(text.substr(at, size));
  return stream;
}

inline std::string hello_with_extensions(std::string_view extensions) {
  HelloParts parts;
  parts.extensions = extensions;
  return record(message(parts.body()));
}

}  // namespace stile::tls
