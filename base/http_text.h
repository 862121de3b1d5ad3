// The bytes of a response of Boost.Beast whose body is a text. Beast's own serializer takes three
// seconds to compile in each file that uses it.
#pragma once

#include <string>

namespace stile {

template <class Response>
[[nodiscard]] std::string http_text(const Response& response) {
  std::string text = response.version() == 10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  text.append(std::to_string(response.result_int())).append(" ").append(response.reason());
  text += "\r\n";
  for (const auto& field : response) {
    text.append(field.name_string()).append(": ").append(field.value()).append("\r\n");
  }
  return text.append("\r\n").append(response.body());
}

}  // namespace stile
