// Feeds heads to the scanner in the ways that bytes can arrive, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "proxy/http/head.h"

namespace stile::http {

struct ScannedRequest {
  std::string text;  // what the views of the head point into
  RequestHead head;
  HeadScanner::Result result;
  std::size_t decided_after = 0;  // bytes
};

// Byte by byte, into a buffer that moves each time, until the scanner has decided; then at once,
// which must give the same.
inline ScannedRequest scan_request(std::string_view text) {
  ScannedRequest scanned;
  HeadScanner scanner;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    scanned.text = std::string{text.substr(0, size)};
    scanned.result = scanner.scan_request(scanned.text, scanned.head);
    scanned.decided_after = size;
    if (scanned.result.state != ParseState::need_more) break;
  }
  HeadScanner at_once;
  RequestHead head;
  const auto result = at_once.scan_request(text, head);
  EXPECT_EQ(result.state, scanned.result.state) << text;
  EXPECT_EQ(result.consumed, scanned.result.consumed) << text;
  EXPECT_EQ(result.error, scanned.result.error) << text;
  EXPECT_EQ(result.error_offset, scanned.result.error_offset) << text;
  EXPECT_EQ(head.fields.size(), scanned.head.fields.size()) << text;
  EXPECT_EQ(result.state == ParseState::bad, !result.error.empty()) << text;
  return scanned;
}

struct ScannedResponse {
  std::string text;
  ResponseHead head;
  HeadScanner::Result result;
  std::size_t decided_after = 0;
};

inline ScannedResponse scan_response(std::string_view text, bool head_request = false) {
  ScannedResponse scanned;
  HeadScanner scanner;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    scanned.text = std::string{text.substr(0, size)};
    scanned.result = scanner.scan_response(scanned.text, scanned.head, head_request);
    scanned.decided_after = size;
    if (scanned.result.state != ParseState::need_more) break;
  }
  HeadScanner at_once;
  ResponseHead head;
  const auto result = at_once.scan_response(text, head, head_request);
  EXPECT_EQ(result.state, scanned.result.state) << text;
  EXPECT_EQ(result.consumed, scanned.result.consumed) << text;
  EXPECT_EQ(result.error, scanned.result.error) << text;
  EXPECT_EQ(head.fields.size(), scanned.head.fields.size()) << text;
  return scanned;
}

}  // namespace stile::http
