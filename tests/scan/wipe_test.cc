// What is looked for contains the values of secrets: no memory that is freed still has them.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "samples.h"
#include "scan/search.h"

namespace {

// Not in memory of the heap, so that the test itself frees none of it.
constexpr std::string_view value = "wiped-Secret-Value-0123456789-abcdefghij";
constexpr std::array<std::string_view, 3> needles{
    "Secret-Value-0123456789",
    "2lwZWQtU2VjcmV0LVZhbHVlLTAx",               // in base64
    "5365637265742d56616c75652d30313233343536",  // in hexadecimal
};
std::atomic<bool> is_watching{false};
std::atomic<int> left_behind{0};

void look_at(void* memory) noexcept {
  if (memory == nullptr || !is_watching) return;
  const std::size_t size = ::malloc_usable_size(memory);
  for (const std::string_view needle : needles) {
    if (::memmem(memory, size, needle.data(), needle.size()) != nullptr) ++left_behind;
  }
}

void release(void* memory) noexcept {
  look_at(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }

namespace stile::scan {
namespace {

TEST(Wiping, NoFreedMemoryHasASecretOrAnEncodingOfIt) {
  left_behind = 0;
  is_watching = true;
  {
    auto secret = std::make_shared<acl::Secret>();
    secret->value = std::make_shared<acl::SecretValue>();
    secret->value->set(value, 1);
    const Watch watch{*ScanRules::compile({}), {secret}, {"placeholder-0123"}};
    auto texts = watch.texts();
    Search search{texts};
    search.feed("nothing of interest", Search::More::no);
    EXPECT_EQ(search.found(), Found{0});
    EXPECT_EQ(left_behind, 0) << "while it is made";
    secret->value->set("another-value-of-this-secret", 2);
    texts = watch.texts();
    EXPECT_EQ(left_behind, 0) << "when it is replaced";
  }
  EXPECT_EQ(left_behind, 0) << "at the end";
  // The test itself: memory that is not wiped is noticed.
  { const std::string copy{value}; }
  is_watching = false;
  EXPECT_EQ(left_behind, 1);
}

}  // namespace
}  // namespace stile::scan
