// Loop: coroutines wait for sockets, events and other threads, and are not lost or woken twice.
#include "proxy/base/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "proxy/base/event.h"
#include "proxy/base/task.h"

namespace stile {
namespace {

struct Pair {
  UniqueFd a, b;
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    a.reset(ends[0]);
    b.reset(ends[1]);
  }
};

Detached read_all(Loop& loop, SocketPtr socket, std::string& out) {
  char buffer[4];
  for (;;) {
    co_await socket->readable();
    const auto got = socket->read(buffer, sizeof buffer);
    if (got.would_block) continue;
    if (got.bytes <= 0) break;
    out.append(buffer, static_cast<std::size_t>(got.bytes));
  }
  loop.stop();
}

TEST(LoopSocket, ReadsToTheEndThroughShortReadsAndHangUp) {
  Loop loop;
  Pair pair;
  std::string out;
  read_all(loop, loop.adopt(std::move(pair.a)), out);
  std::thread peer{[&pair] {
    for (const char* part : {"hello ", "wor", "ld"}) {
      ASSERT_GT(::send(pair.b.get(), part, std::strlen(part), 0), 0);
    }
    pair.b.reset();
  }};
  loop.run([] { return false; });
  peer.join();
  EXPECT_EQ(out, "hello world");
}

Detached wait_then_count(Event& event, int& count) {
  co_await event;
  ++count;
}

TEST(LoopEvent, WakesItsWaiterOnceHoweverOftenItFires) {
  Loop loop;
  Event event{loop};
  int count = 0;
  wait_then_count(event, count);
  event.fire();
  event.fire();
  EXPECT_EQ(count, 0) << "the waiter must not run inside fire()";
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(count, 1);
}

Detached wait_readable(Socket& socket, int& count) {
  co_await socket.readable();
  ++count;
}

Detached adopt_many(Loop& loop, Event& event, std::vector<SocketPtr>& sockets) {
  co_await event;
  for (int i = 0; i < 200; ++i) sockets.push_back(loop.adopt(std::move(Pair{}.a)));
}

TEST(LoopEvent, WaiterThatAdoptsSocketsDoesNotMoveTheOthersAway) {
  Loop loop;
  std::vector<SocketPtr> sockets;
  int count = 0;
  Event first{loop};
  std::array<Event, 3> others{Event{loop}, Event{loop}, Event{loop}};
  adopt_many(loop, first, sockets);
  for (auto& event : others) wait_then_count(event, count);
  loop.post([&] {
    first.fire();
    for (auto& event : others) event.fire();
    loop.stop();
  });
  loop.run([] { return false; });
  EXPECT_EQ(count, 3);
  EXPECT_EQ(sockets.size(), 200U);
}

TEST(LoopSocket, InterruptedWaiterIsNotWokenAgainByTheSocket) {
  Loop loop;
  Pair pair;
  SocketPtr socket = loop.adopt(std::move(pair.a));
  int count = 0;
  wait_readable(*socket, count);
  socket->interrupt();
  ASSERT_EQ(::send(pair.b.get(), "x", 1, 0), 1);
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(count, 1);
}

TEST(LoopPost, RunsWorkOfOtherThreadsOnItsOwn) {
  Loop loop;
  const auto here = std::this_thread::get_id();
  std::thread::id ran_on;
  std::thread other{[&] {
    loop.post([&] { ran_on = std::this_thread::get_id(); });
    loop.stop();
  }};
  loop.run([] { return false; });
  other.join();
  EXPECT_EQ(ran_on, here);
}

struct Closer final : Watcher {
  SocketPtr* victim = nullptr;
  int calls = 0;
  void on_ready(Socket&) override {
    ++calls;
    victim->reset();
  }
};

TEST(LoopSocket, ClosedByAnotherInTheSameTurnIsNotReported) {
  Loop loop;
  Pair first, second;
  SocketPtr a = loop.adopt(std::move(first.a)), b = loop.adopt(std::move(second.a));
  Closer close_b, close_a;
  close_b.victim = &b;
  close_a.victim = &a;
  a->watch(&close_b);
  b->watch(&close_a);
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(close_a.calls + close_b.calls, 1);
}

// A worker that was held up has both before it: the new policy, and bytes that it refuses.
TEST(LoopPost, ComesBeforeWhatIsReadyInTheSameTurn) {
  Loop loop;
  Pair pair;
  SocketPtr socket = loop.adopt(std::move(pair.a));
  Closer reader;
  reader.victim = &socket;
  socket->watch(&reader);
  ASSERT_EQ(::send(pair.b.get(), "x", 1, 0), 1);
  loop.post([&] { socket.reset(); });
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(reader.calls, 0);
}

TEST(LoopPost, ThatFailsKeepsNothingElseFromRunning) {
  Loop loop;
  int ran = 0;
  loop.post([] { throw std::bad_alloc{}; });
  loop.post([&] { ++ran; });
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(ran, 1);
}

using std::chrono::microseconds;

// Stands still unless a test moves it.
struct FakeClock final : Clock {
  SteadyTime time{std::chrono::hours{1}};
  [[nodiscard]] SteadyTime now() const noexcept override { return time; }
};

// Notes who was called, in order, and how often. A call takes longer than a turn allows unless told
// otherwise.
struct Caller final : Watcher {
  FakeClock* clock;
  std::string* calls;
  char name;
  microseconds takes{1000};
  Socket* again = nullptr;
  Caller(FakeClock& of_test, std::string& all, char own)
      : clock{&of_test}, calls{&all}, name{own} {}
  void on_ready(Socket& socket) override {
    calls->push_back(name);
    if (again == &socket) socket.call_again();
    clock->time += takes;
  }
};

struct Patient {
  Pair pair;
  SocketPtr socket;
  Caller caller;
  Patient(Loop& loop, FakeClock& clock, std::string& calls, char name)
      : socket{loop.adopt(std::move(pair.a))}, caller{clock, calls, name} {
    socket->watch(&caller);
    socket->be_patient(true);
  }
};

TEST(LoopPatience, IsServedAfterTheOthers) {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  Patient bulk{loop, clock, calls, 'b'};
  Patient other{loop, clock, calls, 'o'};
  other.socket->be_patient(false);
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(calls, "ob");
}

TEST(LoopPatience, LastsForSomeOfThemEachTurnInTheOrderThatTheyCame) {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  Patient a{loop, clock, calls, 'a'}, b{loop, clock, calls, 'b'}, c{loop, clock, calls, 'c'};
  a.caller.again = a.socket.get();  // has more to move each time
  int turns = 0;
  loop.run([&] {
    calls.push_back('|');
    if (++turns == 4) loop.stop();
    return false;
  });
  EXPECT_EQ(calls.substr(0, 8), "a|b|c|a|");
}

TEST(LoopPatience, IsOverForASocketThatCloses) {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  Patient a{loop, clock, calls, 'a'}, b{loop, clock, calls, 'b'}, c{loop, clock, calls, 'c'};
  loop.run([&] {
    b.socket.reset();
    if (calls == "ac") loop.stop();
    return false;
  });
  EXPECT_EQ(calls, "ac");
}

// Three sockets of one share and one of another, ready in this order. Each takes more than a share.
struct TwoShares {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  Patient a{loop, clock, calls, 'a'}, b{loop, clock, calls, 'b'}, c{loop, clock, calls, 'c'},
      other{loop, clock, calls, 'o'};

  explicit TwoShares(bool are_patient) {
    const auto one = std::make_shared<Share>();
    for (auto* busy : {&a, &b, &c}) busy->socket->charge_to(one);
    other.socket->charge_to(std::make_shared<Share>());
    for (auto* each : {&a, &b, &c, &other}) each->socket->be_patient(are_patient);
  }
  // Who was called in the first turns, with a bar behind each turn.
  std::string run(
      std::size_t length, const std::function<void()>& after_each_turn = [] {}) {
    loop.run([&] {
      calls.push_back('|');
      if (calls.size() >= length) loop.stop();
      after_each_turn();
      return false;
    });
    return calls.substr(0, length);
  }
};

TEST(LoopShare, IsWhatAllSocketsOfOneTakeTogetherBeforeTheOthers) {
  EXPECT_EQ(TwoShares{false}.run(6), "aob|c|");
}

TEST(LoopShare, IsNewEachTurn) {
  TwoShares all{false};
  const auto ready_and_quick = [&] {
    for (auto* each : {&all.a, &all.b, &all.other}) {
      each->caller.takes = {};
      EXPECT_EQ(::send(each->pair.b.get(), "x", 1, 0), 1);
    }
  };
  EXPECT_EQ(all.run(9, ready_and_quick), "aob|aboc|");
}

// Cutting a stream costs wake-ups elsewhere, and serves nobody while only one agent has work.
TEST(LoopShare, OfAnAgentThatIsAloneGoesToOneConnectionWhileItHasMore) {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  Patient a{loop, clock, calls, 'a'}, b{loop, clock, calls, 'b'};
  for (auto* each : {&a, &b}) {
    each->caller.takes = microseconds{100};
    each->caller.again = each->socket.get();
  }
  loop.run([&] {
    if (calls.size() >= 22) loop.stop();
    return false;
  });
  EXPECT_EQ(calls.substr(0, 22), "aaaaaaaaaabbbbbbbbbbaa") << "a millisecond each";
}

TEST(LoopShare, OfEachAgentComesAfterAQuarterOfAMillisecondOfAnother) {
  TwoShares all{true};
  for (auto* each : {&all.a, &all.other}) {
    each->caller.takes = microseconds{125};
    each->caller.again = each->socket.get();
  }
  EXPECT_EQ(all.run(12), "aa|oo|aa|oo|");
}

TEST(LoopShare, TakesTurnsWithTheOthersAmongThePatient) {
  TwoShares all{true};
  all.other.caller.again = all.other.socket.get();
  EXPECT_EQ(all.run(10), "a|o|b|o|c|");
}

Detached note_when_fired(FakeClock& clock, Event& event, std::string& calls, char name) {
  co_await event;
  calls.push_back(name);
  clock.time += microseconds{1000};
}

// Begins to wait, as its agent, when the socket is ready.
struct EventWaiter final : Watcher {
  FakeClock* clock;
  std::string* calls;
  char name;
  Event event;
  Pair pair;
  SocketPtr socket;
  EventWaiter(Loop& loop, FakeClock& of_test, std::string& all, char own,
              const std::shared_ptr<Share>& share)
      : clock{&of_test},
        calls{&all},
        name{own},
        event{loop},
        socket{loop.adopt(std::move(pair.a))} {
    socket->watch(this);
    socket->charge_to(share);
  }
  void on_ready(Socket&) override { note_when_fired(*clock, event, *calls, name); }
};

// An answer from DNS, a finished dial, a written log line: what they resume takes its agent's time.
TEST(LoopShare, CountsWhatEventsResume) {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  const auto one = std::make_shared<Share>(), two = std::make_shared<Share>();
  EventWaiter a{loop, clock, calls, 'a', one}, b{loop, clock, calls, 'b', one},
      c{loop, clock, calls, 'c', one}, other{loop, clock, calls, 'o', two};
  int turns = 0;
  loop.run([&] {
    if (++turns == 1) {
      for (auto* each : {&a, &b, &c, &other}) each->event.fire();
      return true;
    }
    calls.push_back('|');
    if (turns == 4) loop.stop();
    return false;
  });
  EXPECT_EQ(calls.substr(0, 7), "ao|b|c|");
}

// The same for what is resumed at the end of a turn, as by a written log line.
TEST(LoopShare, CountsWhatTheEndOfATurnResumes) {
  struct Line final : Work {
    std::string* calls;
    FakeClock* clock;
    char name;
    Line(std::string& all, FakeClock& of_test, char own, const std::shared_ptr<Share>& share)
        : calls{&all}, clock{&of_test}, name{own} {
      charge_to(share);
    }
    void run() override {
      calls->push_back(name);
      clock->time += microseconds{1000};
    }
  };
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  const auto one = std::make_shared<Share>(), two = std::make_shared<Share>();
  Line a{calls, clock, 'a', one}, b{calls, clock, 'b', one}, other{calls, clock, 'o', two};
  int turns = 0;
  loop.post([] {});  // there is a first turn
  loop.run([&] {
    if (++turns == 1) {
      for (auto* line : {&a, &b, &other}) loop.serve(*line);
    }
    calls.push_back('|');
    if (turns == 2) loop.stop();
    return false;
  });
  EXPECT_EQ(calls.substr(0, 5), "ao|b|");
}

Detached note_when_readable(Socket& socket, std::string& calls, char name) {
  co_await socket.readable();
  calls.push_back(name);
}

TEST(LoopPatience, HoldsForCoroutinesToo) {
  Loop loop;
  std::string calls;
  Pair bulk, other;
  SocketPtr first = loop.adopt(std::move(bulk.a)), second = loop.adopt(std::move(other.a));
  first->be_patient(true);
  note_when_readable(*first, calls, 'b');
  note_when_readable(*second, calls, 'o');
  for (const Pair* pair : {&bulk, &other}) ASSERT_EQ(::send(pair->b.get(), "x", 1, 0), 1);
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(calls, "ob");
}

// Each takes longer than a turn has for all of them.
Detached read_in_turns(FakeClock& clock, Socket& socket, std::string& calls, char name, int times) {
  co_await socket.readable();
  for (int i = 0; i < times; ++i) {
    co_await socket.readable_again();
    calls.push_back(name);
    clock.time += microseconds{1000};
  }
}

TEST(LoopPatience, OfCoroutinesLastsForSomeOfThemEachTurn) {
  FakeClock clock;
  Loop loop{clock};
  std::string calls;
  Pair one, two;
  SocketPtr first = loop.adopt(std::move(one.a)), second = loop.adopt(std::move(two.a));
  for (const Pair* pair : {&one, &two}) ASSERT_EQ(::send(pair->b.get(), "x", 1, 0), 1);
  read_in_turns(clock, *first, calls, 'a', 2);
  read_in_turns(clock, *second, calls, 'b', 2);
  loop.run([&] {
    calls.push_back('|');
    if (calls.size() == 8) loop.stop();
    return false;
  });
  EXPECT_EQ(calls.substr(0, 8), "a|b|a|b|");
}

TEST(LoopPatience, IsOverForACoroutineThatIsInterrupted) {
  Loop loop;
  std::string calls;
  Pair pair;
  SocketPtr socket = loop.adopt(std::move(pair.a));  // nothing will ever come
  const auto wait = [](Socket& on, std::string& out) -> Detached {
    co_await on.readable_again();
    out.push_back('i');
  };
  wait(*socket, calls);
  loop.post([&] { socket->interrupt(); });
  loop.stop();
  loop.run([] { return false; });
  EXPECT_EQ(calls, "i");
}

#ifndef NDEBUG
TEST(LoopEventDeathTest, HasOneWaiter) {
  Loop loop;
  Event event{loop};
  int count = 0;
  wait_then_count(event, count);
  EXPECT_DEATH(wait_then_count(event, count), "one waiter per event");
  event.fire();  // ends the coroutine that waits
  loop.stop();
  loop.run([] { return false; });
}

TEST(LoopSocketDeathTest, HasOneWaiterInEachDirection) {
  Loop loop;
  Pair pair;
  SocketPtr socket = loop.adopt(std::move(pair.a));
  int count = 0;
  wait_readable(*socket, count);
  EXPECT_DEATH(wait_readable(*socket, count), "one waiter per direction");
  loop.post([&] { socket->interrupt(); });  // ends the coroutine that waits
  loop.stop();
  loop.run([] { return false; });
}
#endif

Task<int> twice(int value) { co_return value * 2; }
Detached add_up(int& sum) {
  for (int i = 0; i < 1000; ++i) sum += co_await twice(i);
}

TEST(TaskAwait, ReturnsValuesThroughManyAwaits) {
  int sum = 0;
  add_up(sum);
  EXPECT_EQ(sum, 999000);
}

Task<> fails() {
  throw std::runtime_error{"no"};
  co_return;
}
Detached catches(bool& caught) {
  try {
    co_await fails();
  } catch (const std::runtime_error&) {
    caught = true;
  }
}

TEST(TaskAwait, PassesExceptionsToTheAwaiter) {
  bool caught = false;
  catches(caught);
  EXPECT_TRUE(caught);
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(LoopSocket, LeavesABorrowedDescriptorOpen) {
  Loop loop;
  const Pair pair;
  SocketPtr socket = loop.borrow_level(pair.a.get(), EPOLLIN);
  ASSERT_NE(socket, nullptr);
  socket.reset();
  EXPECT_TRUE(is_open(pair.a.get()));
  EXPECT_NE(loop.borrow_level(pair.a.get(), EPOLLIN), nullptr) << "it is out of epoll";
}

TEST(LoopSocket, LeavesABorrowedDescriptorOpenThatTheKernelRefuses) {
  Loop loop;
  const UniqueFd file{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};  // no epoll for files
  ASSERT_TRUE(file);
  EXPECT_EQ(loop.borrow_level(file.get(), EPOLLIN), nullptr);
  EXPECT_TRUE(is_open(file.get()));
}

}  // namespace
}  // namespace stile
