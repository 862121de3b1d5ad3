// ControlClient: bounded in time and memory, whatever the other side does.
#include "control/client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

namespace stile::control {
namespace {

using std::chrono::milliseconds;

// A daemon of one connection: what it does with it is the test's.
class Daemon {
 public:
  explicit Daemon(std::function<void(int)> serve) {
    std::string name = "/tmp/stile-client-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/control.sock";
    listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    if (!serve) return;
    thread_ = std::thread{[this, serve] {
      const UniqueFd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      serve(client.get());
    }};
  }
  ~Daemon() {
    if (thread_.joinable()) thread_.join();
    std::filesystem::remove_all(folder_);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  [[nodiscard]] ControlClient connect(ControlClient::Bounds bounds = {}) const {
    auto client = ControlClient::connect(path_, bounds);
    EXPECT_TRUE(client);
    return std::move(*client);
  }

 private:
  std::string folder_, path_;
  UniqueFd listener_;
  std::thread thread_;
};

void say(int fd, std::string_view text) {
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
}

std::string hear(int fd) {
  std::string text(4096, '\0');
  const auto got = ::recv(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// Until the client has gone.
void wait_for_end(int fd) {
  while (!hear(fd).empty()) {
  }
}

TEST(ControlClient, AsksAndReadsLines) {
  const Daemon daemon{[](int fd) {
    EXPECT_EQ(hear(fd), "{}\n");
    say(fd, "{\"ok\":true}\nsecond\nthi");
    say(fd, "rd\nno newline");
  }};
  auto client = daemon.connect();
  const auto answer = client.ask("{}");
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "{\"ok\":true}");
  EXPECT_TRUE(is_ok(*answer));
  EXPECT_EQ(**client.next_line(std::nullopt), "second");
  EXPECT_EQ(**client.next_line(std::nullopt), "third");
  EXPECT_FALSE(*client.next_line(std::nullopt));
}

TEST(ControlClient, TellsWhetherSomebodyListens) {
  const auto nobody = ControlClient::connect("/tmp/stile-no-such-folder/control.sock", {});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ClientError::Kind::absent);
  const auto too_long = ControlClient::connect("/tmp/" + std::string(200, 'x'), {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().kind, ClientError::Kind::broken);
}

TEST(ControlClient, DoesNotWaitForEver) {
  const Daemon silent{[](int fd) { wait_for_end(fd); }};
  const auto answer = silent.connect({milliseconds{20}, 1000}).ask("{}");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("has not answered"), std::string::npos);
}

TEST(ControlClient, DoesNotWaitForEverForTheEndOfALine) {
  const Daemon slow{[](int fd) {
    while (::send(fd, "x", 1, MSG_NOSIGNAL) == 1) ::usleep(1000);
  }};
  const auto answer = slow.connect({milliseconds{50}, 1U << 30U}).ask("{}");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("has not answered"), std::string::npos);
}

TEST(ControlClient, DoesNotKeepALineWithoutAnEnd) {
  const Daemon endless{[](int fd) {
    const std::string much(65536, 'x');
    while (::send(fd, much.data(), much.size(), MSG_NOSIGNAL) > 0) {
    }
  }};
  const auto answer = endless.connect({std::chrono::seconds{60}, 1U << 20U}).ask("{}");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("without an end"), std::string::npos);
}

TEST(ControlClient, SaysWhenTheDaemonHangsUp) {
  const Daemon rude{[](int fd) { hear(fd); }};
  const auto answer = rude.connect().ask("{}");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("hung up"), std::string::npos);
}

TEST(ControlClient, SendsADescriptor) {
  const Daemon daemon{[](int fd) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    EXPECT_EQ(::recvmsg(fd, &message, MSG_CMSG_CLOEXEC), 1);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    ASSERT_NE(header, nullptr);
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    say(descriptor, "through the pair");
    ::close(descriptor);
  }};
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const UniqueFd own{pair[0]};
  const UniqueFd other{pair[1]};
  auto client = daemon.connect();
  ASSERT_TRUE(client.send("{}", other.get()));
  EXPECT_EQ(hear(own.get()), "through the pair");
}

}  // namespace
}  // namespace stile::control
