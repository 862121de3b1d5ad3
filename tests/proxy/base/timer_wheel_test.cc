// TimerWheel: deadlines fire once, not before their time, and may change each other while firing.
#include "proxy/base/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace stile {
namespace {

using std::chrono::milliseconds, std::chrono::hours;

struct Alarm final : Deadline {
  std::function<void()> action;
  int fired = 0;
  void on_deadline() override {
    ++fired;
    if (action) action();
  }
};

class TimerWheelTest : public testing::Test {
 protected:
  SteadyTime start = SteadyTime{} + hours{1};
  TimerWheel wheel{start};
};

TEST_F(TimerWheelTest, FiresOnceAndNotBeforeItsTime) {
  Alarm alarm;
  wheel.arm(alarm, start + milliseconds{100});
  wheel.advance(start + milliseconds{99});
  EXPECT_EQ(alarm.fired, 0);
  wheel.advance(start + milliseconds{130});
  EXPECT_EQ(alarm.fired, 1);
  wheel.advance(start + hours{1});
  EXPECT_EQ(alarm.fired, 1);
}

TEST_F(TimerWheelTest, FarDeadlineSurvivesManyTurnsOfTheWheel) {
  Alarm alarm;
  wheel.arm(alarm, start + hours{1});
  for (int second = 1; second < 3600; ++second) {
    wheel.advance(start + std::chrono::seconds{second});
    ASSERT_EQ(alarm.fired, 0) << second;
  }
  wheel.advance(start + hours{1} + std::chrono::seconds{1});
  EXPECT_EQ(alarm.fired, 1);
}

TEST_F(TimerWheelTest, AdvancingFarBeyondTheWheelMissesNothing) {
  Alarm near, far;
  wheel.arm(near, start + milliseconds{20});
  wheel.arm(far, start + std::chrono::minutes{5});
  wheel.advance(start + hours{2});
  EXPECT_EQ(near.fired, 1);
  EXPECT_EQ(far.fired, 1);
}

TEST_F(TimerWheelTest, DestroyedOrDisarmedDoesNotFire) {
  auto gone = std::make_unique<Alarm>();
  Alarm disarmed;
  wheel.arm(*gone, start + milliseconds{10});
  wheel.arm(disarmed, start + milliseconds{10});
  gone.reset();
  disarmed.disarm();
  wheel.advance(start + hours{1});
  EXPECT_EQ(disarmed.fired, 0);
}

TEST_F(TimerWheelTest, OneThatFiresMayDestroyAndRearmOthers) {
  Alarm first, again;
  auto victim = std::make_unique<Alarm>();
  first.action = [&] {
    victim.reset();
    wheel.arm(again, start + milliseconds{40});
  };
  wheel.arm(first, start + milliseconds{10});
  wheel.arm(*victim, start + milliseconds{10});
  wheel.arm(again, start + milliseconds{10});
  wheel.advance(start + milliseconds{30});
  EXPECT_EQ(first.fired, 1);
  EXPECT_EQ(again.fired, 0);
  wheel.advance(start + milliseconds{100});
  EXPECT_EQ(again.fired, 1);
}

TEST_F(TimerWheelTest, OneThatFailsKeepsNoOtherFromFiring) {
  Alarm first, second;
  first.action = second.action = [] { throw std::bad_alloc{}; };
  for (Alarm* alarm : {&first, &second}) wheel.arm(*alarm, start + milliseconds{10});
  wheel.advance(start + milliseconds{100});
  EXPECT_EQ(first.fired + second.fired, 2);
}

TEST_F(TimerWheelTest, FiresManyInSeveralCallsOneAfterTheOther) {
  std::vector<std::unique_ptr<Alarm>> alarms(1000);
  int fired = 0;
  for (auto& alarm : alarms) {
    alarm = std::make_unique<Alarm>();
    alarm->action = [&] { ++fired; };
    wheel.arm(*alarm, start + milliseconds{10});
  }
  const SteadyTime now = start + milliseconds{100};
  for (int calls = 1; fired < 999; ++calls) {
    wheel.advance(now);
    ASSERT_EQ(fired, std::min(calls * 64, 999));
    if (calls == 1) alarms.back().reset();  // what is due can still go
    EXPECT_EQ(wheel.timeout_ms(now), fired < 999 ? 0 : -1);
  }
}

TEST_F(TimerWheelTest, TimeoutLeadsToTheNextDeadline) {
  EXPECT_EQ(wheel.timeout_ms(start), -1);
  Alarm alarm;
  wheel.arm(alarm, start + milliseconds{500});
  SteadyTime now = start;
  int wakes = 0;
  while (alarm.fired == 0 && wakes < 5) {
    now += milliseconds{std::max(1, wheel.timeout_ms(now))};
    wheel.advance(now);
    ++wakes;
  }
  EXPECT_EQ(alarm.fired, 1);
  EXPECT_GE(now, start + milliseconds{500});
  EXPECT_LE(now, start + milliseconds{540});
}

}  // namespace
}  // namespace stile
