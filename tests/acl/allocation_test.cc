// Deciding allocates nothing on the way to an allow: every operator new is counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace {
thread_local std::size_t allocations = 0;

void* counted(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

void* counted_or_throw(std::size_t size) {
  if (void* memory = counted(size)) return memory;
  throw std::bad_alloc{};
}
}  // namespace

void* operator new(std::size_t size) { return counted_or_throw(size); }
void* operator new[](std::size_t size) { return counted_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace stile::acl {
namespace {

std::size_t allocations_of(const Query& request, std::string_view expected) {
  const std::size_t before = allocations;
  const Decision decision = decide(request);
  const std::size_t count = allocations - before;
  EXPECT_EQ(test::outcome(decision), expected);
  return count;
}

TEST(Allocation, IsNoneForAllowAndDenyByName) {
  AgentPolicy policy = test::agent({"a.com", ".b.com", "*.c.com", "tcp://d.com:22"}, {"x.b.com"});
  policy.grants = {test::grant("g", {"granted.com"})};
  policy.allow_ip = {*Address::parse("10.0.0.7")};
  const struct {
    std::string_view authority, outcome;
  } cases[] = {
      {"a.com:443", "allow"},
      {"very.long.name.with.many.labels.b.com:443", "allow"},
      {"x.c.com:443", "allow"},
      {"d.com:22", "allow"},
      {"granted.com:443", "allow"},
      {"10.0.0.7:443", "allow"},
      {"x.b.com:443", "deny host-denied"},
      {"nobody.com:443", "deny host-not-allowed"},
      {"127.0.0.1:443", "deny ip-literal"},
      {"a b:443", "deny bad-request"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(allocations_of(test::query(policy, c.authority), c.outcome), 0U) << c.authority;
  }
}

TEST(Allocation, IsNoneForANameThatIsAllowedBesideRegexes) {
  const AgentPolicy policy = test::agent({"a.com", "~x[0-9]+\\.com"});
  EXPECT_EQ(allocations_of(test::query(policy, "a.com:443"), "allow"), 0U);
}

TEST(Allocation, IsNoneForTheAddressCheck) {
  AgentPolicy policy = test::agent({"a.com"});
  policy.private_exceptions = {{*Prefix::parse("10.0.0.0/8"), test::rule_set({"a.com"})}};
  const Decision decision = test::ask(policy, "a.com:443");
  const PrefixMap own;
  EXPECT_TRUE(may_dial(policy, decision, *Address::parse("8.8.8.8"), own));  // builds the table
  const std::size_t before = allocations;
  const bool dials = may_dial(policy, decision, *Address::parse("10.0.0.1"), own) &&
                     may_dial(policy, decision, *Address::parse("8.8.4.4"), own);
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(dials);
}

}  // namespace
}  // namespace stile::acl
