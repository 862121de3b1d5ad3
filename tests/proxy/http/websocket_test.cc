// FrameReader: payloads of a client's frames, however they arrive.
#include "proxy/http/websocket.h"

#include <gtest/gtest.h>

#include <vector>

namespace stile::http {
namespace {

std::string client_frame(unsigned first, std::string_view payload, unsigned second_bits = 0x80) {
  std::string out{static_cast<char>(first)};
  if (payload.size() < 126) {
    out += static_cast<char>(second_bits | payload.size());
  } else if (payload.size() < 65536) {
    out += static_cast<char>(second_bits | 126U);
    out += static_cast<char>(payload.size() >> 8U);
    out += static_cast<char>(payload.size());
  } else {
    out += static_cast<char>(second_bits | 127U);
    for (unsigned shift = 56;; shift -= 8) {
      out += static_cast<char>(payload.size() >> shift);
      if (shift == 0) break;
    }
  }
  const std::string mask = "\x12\x34\x56\x78";
  out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out += static_cast<char>(payload[i] ^ mask[i % 4]);
  }
  return out;
}

struct ReadFrames {
  bool is_good = true;
  std::string data, control;
};

ReadFrames read_frames(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  ReadFrames result;
  for (std::size_t i = 0; i < bytes.size() && result.is_good; i += piece) {
    result.is_good = reader.feed(bytes.substr(i, piece), result.data, result.control);
  }
  return result;
}

TEST(FrameReader, ReadsFramesOfEverySize) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65535U, 65536U, 70000U}) {
    const std::string payload(size, 'x');
    const ReadFrames result =
        read_frames(client_frame(0x81, payload) + client_frame(0x82, "end"), 100'000);
    EXPECT_TRUE(result.is_good) << size;
    EXPECT_EQ(result.data, payload + "end") << size;
  }
}

TEST(FrameReader, JoinsPartsOfAMessageAroundControlFrames) {
  const std::string bytes = client_frame(0x01, "one ") + client_frame(0x89, "ping") +
                            client_frame(0x80, "text") + client_frame(0x88, "bye");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const ReadFrames result = read_frames(bytes, piece);
    EXPECT_TRUE(result.is_good);
    EXPECT_EQ(result.data, "one text");
    EXPECT_EQ(result.control, "pingbye");
  }
}

// What was whole of all bytes so far, after each piece.
std::vector<std::size_t> whole_after(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  std::string data, control;
  std::vector<std::size_t> all;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    EXPECT_TRUE(reader.feed(bytes.substr(i, piece), data, control));
    if (reader.whole_bytes() > 0) whole = i + reader.whole_bytes();
    all.push_back(whole);
  }
  return all;
}

TEST(FrameReader, KnowsWhereMessagesEnd) {
  const std::string first = client_frame(0x01, "one") + client_frame(0x89, "ping") +
                            client_frame(0x00, "") + client_frame(0x80, "two");
  const std::string second = first + client_frame(0x8a, ""),
                    third = second + client_frame(0x81, "");
  const std::string bytes = third + client_frame(0x81, "open").substr(0, 8);
  const auto at = whole_after(bytes, 1);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t fed = i + 1;
    const std::size_t expected = fed >= third.size()    ? third.size()
                                 : fed >= second.size() ? second.size()
                                 : fed >= first.size()  ? first.size()
                                                        : 0;
    EXPECT_EQ(at[i], expected) << fed;
  }
  for (std::size_t piece = 2; piece <= bytes.size(); ++piece) {
    EXPECT_EQ(whole_after(bytes, piece).back(), third.size()) << piece;
  }
}

TEST(FrameReader, RefusesWhatAClientWithoutExtensionsDoesNotSend) {
  EXPECT_FALSE(read_frames(client_frame(0x81, "x", 0), 99).is_good);  // without a mask
  EXPECT_FALSE(read_frames(client_frame(0xc1, "x"), 99).is_good);     // compressed
  EXPECT_FALSE(read_frames(client_frame(0xa1, "x"), 99).is_good);     // reserved bits
  EXPECT_FALSE(read_frames(client_frame(0x83, "x"), 99).is_good);     // an unknown opcode
  EXPECT_FALSE(read_frames(client_frame(0x8b, "x"), 99).is_good);     // an unknown control frame
  EXPECT_FALSE(read_frames(client_frame(0x09, "x"), 99).is_good);     // a part of a control frame
  EXPECT_FALSE(
      read_frames(client_frame(0x89, std::string(126, 'x')), 999).is_good);  // a long control frame
  EXPECT_FALSE(read_frames("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01\x01", 99).is_good);
  EXPECT_FALSE(read_frames("hello", 1).is_good);
}

}  // namespace
}  // namespace stile::http
