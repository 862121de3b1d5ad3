// What the origin's first bytes are taken for, and after how many of them.
#include <gtest/gtest.h>

#include "proxy/tls/client_hello.h"
#include "tests/proxy/tls/hello_bytes.h"

namespace stile::tls {
namespace {

using namespace std::string_literals;

const std::string retry_random =
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"s;

std::string server_hello(const std::string& random) {
  return message("\x03\x03" + random + "\0\x13\x01\0\0\x06\0\x2b\0\x02\x03\x04"s, '\x02');
}

// The number of bytes after which the answer stands; it must not change later.
std::size_t decided_after(const std::string& stream, ServerFlight expected) {
  std::size_t decided = 0;
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    const ServerFlight flight = classify_server_flight(std::string_view{stream}.substr(0, size));
    if (flight == ServerFlight::need_more) {
      EXPECT_EQ(decided, 0u) << "asks for more after it had decided, at " << size;
      continue;
    }
    if (decided == 0) decided = size;
    EXPECT_EQ(flight, expected) << size;
  }
  EXPECT_NE(decided, 0u);
  return decided;
}

TEST(ServerFlight, IsARetryOnceItsRandomIsThere) {
  EXPECT_EQ(decided_after(record(server_hello(retry_random)), ServerFlight::hello_retry_request),
            5u + 4 + 2 + 32);
}

TEST(ServerFlight, IsARetryOverRecordsOfAnySize) {
  const std::string text = server_hello(retry_random);
  for (std::size_t size = 1; size <= text.size(); ++size) {
    decided_after(in_records(text, size), ServerFlight::hello_retry_request);
  }
}

TEST(ServerFlight, IsOtherAtTheFirstByteThatDiffers) {
  EXPECT_EQ(decided_after(record(server_hello(std::string(32, 'r'))), ServerFlight::other), 12u);
  for (std::size_t i = 0; i < retry_random.size(); ++i) {
    std::string random = retry_random;
    random[i] = static_cast<char>(random[i] ^ 1);
    EXPECT_EQ(decided_after(record(server_hello(random)), ServerFlight::other), 12 + i);
  }
}

TEST(ServerFlight, IsOtherForWhatIsNoServerHello) {
  EXPECT_EQ(decided_after(record("\x02\x28", '\x15'), ServerFlight::other), 1u);
  EXPECT_EQ(decided_after("SSH-2.0-x\r\n", ServerFlight::other), 1u);
  EXPECT_EQ(decided_after("\x16\x02\x01", ServerFlight::other), 2u);
  EXPECT_EQ(decided_after("\x16\x03\x03\0\0\x16"s, ServerFlight::other), 5u);
  EXPECT_EQ(decided_after(record(message("certificate", '\x0b')), ServerFlight::other), 6u);
  EXPECT_EQ(decided_after(record(server_hello(retry_random).substr(0, 20)) + "\x15\x03\x03",
                          ServerFlight::other),
            26u);
}

}  // namespace
}  // namespace stile::tls
