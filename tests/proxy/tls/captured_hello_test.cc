// ClientHello reader against what real clients sent (tests/data/hello/capture.py).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "proxy/tls/client_hello.h"
#include "tests/proxy/tls/hello_bytes.h"

namespace stile::tls {
namespace {

using State = Hello::State;

std::string captured(const std::string& name) {
  std::ifstream file{HELLO_DIRECTORY "/" + name + ".bin", std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct Client {
  const char* name;
  const char* sni;
  bool has_ech = false;
};

const std::vector<Client> clients{
    {"chromium", "origin.test", true},  // post-quantum key share, GREASE
    {"curl_openssl", "origin.test"},
    {"firefox", "origin.test", true},  // post-quantum key share
    {"git_gnutls", "origin.test"},
    {"gnutls_cli", "origin.test"},
    {"go", "origin.test"},
    {"java", "origin.test"},
    {"node", "origin.test"},
    {"nss", "origin.test"},
    {"openssl", "origin.test"},
    {"openssl_groups", "origin.test"},
    {"openssl_no_sni", ""},
    {"openssl_tls12", "origin.test"},
    {"python", "origin.test"},
    {"wget_gnutls", "origin.test"},
};

TEST(CapturedHello, IsUnderstoodFromEveryClient) {
  for (const Client& client : clients) {
    const std::string stream = captured(client.name);
    HelloReader reader;
    const Hello hello = reader.read(stream);
    ASSERT_EQ(hello.state, State::complete) << client.name;
    EXPECT_EQ(hello.sni, client.sni) << client.name;
    EXPECT_EQ(hello.has_sni, !hello.sni.empty()) << client.name;
    EXPECT_EQ(hello.has_ech, client.has_ech) << client.name;
    EXPECT_EQ(hello.consumed, stream.size()) << client.name;
  }
}

TEST(CapturedHello, IsIncompleteAtEveryEarlierByte) {
  for (const Client& client : clients) {
    const std::string stream = captured(client.name);
    HelloReader trickled;
    for (std::size_t size = 0; size < stream.size(); ++size) {
      HelloReader fresh;
      const std::string_view part{stream.data(), size};
      ASSERT_EQ(fresh.read(part).state, State::need_more) << client.name << ' ' << size;
      ASSERT_EQ(trickled.read(part).state, State::need_more) << client.name << ' ' << size;
    }
    const Hello hello = trickled.read(stream);
    EXPECT_EQ(hello.state, State::complete) << client.name;
    EXPECT_EQ(hello.sni, client.sni) << client.name;
  }
}

TEST(CapturedHello, IsTheSameOverSeveralRecords) {
  for (const Client& client : clients) {
    const std::string text = captured(client.name).substr(5);
    for (const std::size_t size : {1u, 2u, 3u, 5u, 64u, 500u, 1000u}) {
      const std::string stream = in_records(text, size);
      HelloReader reader;
      const Hello hello = reader.read(stream);
      ASSERT_EQ(hello.state, State::complete) << client.name << ' ' << size;
      EXPECT_EQ(hello.sni, client.sni) << client.name << ' ' << size;
      EXPECT_EQ(hello.consumed, stream.size()) << client.name << ' ' << size;
    }
  }
}

TEST(CapturedHello, NamesNoOtherHostAfterAnyFlippedBit) {
  // A flipped bit in the name gives another name of the same length; elsewhere it gives the same
  // name, none, or a refusal. It never makes the hello longer or shorter than what was sent.
  for (const Client& client : clients) {
    std::string stream = captured(client.name);
    const std::size_t name_at = stream.find("origin.test");
    for (std::size_t bit = 0; bit < stream.size() * 8; ++bit) {
      const auto flip = [&] {
        stream[bit / 8] = static_cast<char>(stream[bit / 8] ^ (1 << bit % 8));
      };
      flip();
      HelloReader reader;
      const Hello hello = reader.read(stream);
      const bool in_name = bit / 8 - name_at < 11;  // wraps around before the name
      if (hello.state == State::complete) {
        EXPECT_EQ(hello.consumed, stream.size()) << client.name << ' ' << bit;
        if (hello.has_sni && !in_name) {
          EXPECT_EQ(hello.sni, client.sni) << client.name << ' ' << bit;
        }
      }
      flip();
    }
  }
}

TEST(CapturedHello, IsFoundAgainAfterARetry) {
  const std::string stream = captured("retry_client");  // change_cipher_spec, then the second hello
  HelloReader reader = HelloReader::for_second_hello();
  const Hello hello = reader.read(stream);
  EXPECT_EQ(hello.state, State::complete);
  EXPECT_EQ(hello.sni, "origin.test");
  EXPECT_EQ(hello.consumed, stream.size());
  HelloReader first;
  EXPECT_EQ(first.read(stream).state, State::not_tls);
}

TEST(CapturedServerFlight, IsTakenForARetryOnlyIfItIsOne) {
  const std::pair<const char*, ServerFlight> flights[]{
      {"retry_server", ServerFlight::hello_retry_request},
      {"tls13_server", ServerFlight::other},
      {"tls12_server", ServerFlight::other},
  };
  for (const auto& [name, expected] : flights) {
    EXPECT_EQ(classify_server_flight(captured(name)), expected) << name;
  }
}

}  // namespace
}  // namespace stile::tls
