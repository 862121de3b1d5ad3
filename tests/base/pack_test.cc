// Packer, Unpacker: what is written is read, and nothing else is.
#include "base/pack.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

std::string example() {
  return Packer{}
      .number(std::uint8_t{7})
      .number(std::uint16_t{0x1234})
      .number(std::uint64_t{0x0102030405060708})
      .flag(true)
      .text("hello")
      .text("")
      .take();
}

bool read(std::string_view bytes) {
  Unpacker in{bytes};
  const bool fits = in.number<std::uint8_t>() == 7 && in.number<std::uint16_t>() == 0x1234 &&
                    in.number<std::uint64_t>() == 0x0102030405060708 && in.flag() &&
                    in.text(5) == "hello" && in.text(5).empty();
  return fits && in.is_done();
}

TEST(Pack, ReadsWhatWasWritten) {
  EXPECT_TRUE(read(example()));
  EXPECT_EQ(Packer{}.number(std::uint32_t{0x01020304}).take(), "\x04\x03\x02\x01");
}

TEST(Pack, RefusesATextThatIsCutAnywhereOrTooLong) {
  const std::string bytes = example();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(read(bytes + '\0'));
}

TEST(Pack, RefusesTextsBeyondTheirBoundAndFlagsThatAreNone) {
  const std::string text = Packer{}.text("hello").take();
  Unpacker in{text};
  EXPECT_EQ(in.text(4), "");
  EXPECT_FALSE(in.is_good());
  EXPECT_EQ(in.number<std::uint8_t>(), 0);  // nothing is read after an error
  Unpacker flag{std::string_view{"\x02", 1}};
  EXPECT_FALSE(flag.flag());
  EXPECT_FALSE(flag.is_done());
}

}  // namespace
}  // namespace stile
