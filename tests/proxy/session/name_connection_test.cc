// NameConnection: questions over TCP.
#include "proxy/session/name_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/local_socket.h"

namespace stile::session {
namespace {

using namespace std::string_view_literals;

// Its type and class are A and IN.
constexpr std::string_view question =
    "\x00\x18\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
    "\x01"
    "a\x04test\x00\x00\x01\x00\x01"sv;

class NameConnectionTest : public testing::Test {
 protected:
  NameConnectionTest() {
    auto ends = *socket_pair(SOCK_STREAM | SOCK_NONBLOCK);
    client_ = std::move(ends.first);
    server_ = std::move(ends.second);
  }

  static std::unique_ptr<audit::Log> open_log() {
    audit::Log::Options options;
    options.path = "/dev/null";
    return *audit::Log::open(std::move(options));
  }
  void connect() {
    Peer peer{shared_, nullptr, shared_.unknown, context_.tally("-"), acl::Address{}, 0, 1, false};
    NameConnection::start(context_, loop_.adopt(std::move(server_)), std::move(peer));
  }
  void send(std::string_view bytes) {
    ASSERT_EQ(::send(client_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  // Since the last call.
  std::size_t received_bytes() {
    std::string room(1 << 16, '\0');
    const ssize_t size = ::recv(client_.get(), room.data(), room.size(), 0);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }

  Loop loop_;
  std::unique_ptr<audit::Log> log_ = open_log();
  Shared shared_{std::make_shared<const acl::Snapshot>(
                     1, std::vector<std::shared_ptr<const acl::AgentPolicy>>{}),
                 acl::Prefix{}};
  UniqueFd client_, server_;
  std::shared_ptr<const acl::PrefixMap> own_;
  Context context_{loop_, shared_, *log_, {}, {}, {}, own_};
};

TEST_F(NameConnectionTest, AnswersOneQuestionInATurn) {
  constexpr std::size_t questions = 100;
  std::string all;
  for (std::size_t i = 0; i < questions; ++i) all += question;
  connect();
  send(all);
  std::size_t received = 0, most = 0, turns = 0;
  loop_.run([&] {
    static_cast<void>(context_.audit.flush());
    const std::size_t now = received_bytes();
    most = std::max(most, now);
    received += now;
    if (received == all.size() || ++turns == 10 * questions) client_.reset();
    if (context_.live.empty()) loop_.stop();
    return true;
  });
  EXPECT_EQ(received, all.size());  // an answer without an address is as long as its question
  EXPECT_EQ(most, question.size());
}

}  // namespace
}  // namespace stile::session
