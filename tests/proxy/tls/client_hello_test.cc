// ClientHello reader: what makes a hello, what breaks one, and how it may arrive.
#include "proxy/tls/client_hello.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/proxy/tls/hello_bytes.h"

namespace stile::tls {
namespace {

using State = Hello::State;
using namespace std::string_literals;

Hello read_once(std::string_view stream) {
  // The name may view into the reader's buffer, so it must not outlive the reader; tests that look
  // at it keep their own reader.
  HelloReader reader;
  Hello hello = reader.read(stream);
  hello.sni = {};
  return hello;
}

// The first length at which the stream, coming in byte by byte, is not asked for more.
std::size_t decided_after(std::string_view stream, State expected, HelloReader reader = {}) {
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    const Hello hello = reader.read(stream.substr(0, size));
    if (hello.state == State::need_more) continue;
    EXPECT_EQ(hello.state, expected) << "after " << size << " bytes";
    return size;
  }
  ADD_FAILURE() << "never decided";
  return 0;
}

TEST(HelloReader, FindsTheServerName) {
  const std::string stream = record(message(HelloParts{}.body()));
  HelloReader reader;
  const Hello hello = reader.read(stream);
  EXPECT_EQ(hello.state, State::complete);
  EXPECT_TRUE(hello.has_sni);
  EXPECT_EQ(hello.sni, "origin.test");
  EXPECT_FALSE(hello.has_ech);
  EXPECT_EQ(hello.consumed, stream.size());
}

TEST(HelloReader, GivesTheNameAsSent) {
  HelloReader reader;
  const std::string stream = hello_with_extensions(server_name("Origin.TEST"));
  EXPECT_EQ(reader.read(stream).sni, "Origin.TEST");
}

TEST(HelloReader, AcceptsAHelloWithoutName) {
  HelloParts without_extensions;
  without_extensions.with_extensions = false;
  for (const std::string& stream :
       {hello_with_extensions(""), hello_with_extensions(extension(23, "")),
        record(message(without_extensions.body()))}) {
    const Hello hello = read_once(stream);
    EXPECT_EQ(hello.state, State::complete);
    EXPECT_FALSE(hello.has_sni);
  }
}

TEST(HelloReader, TellsOfEncryptedHellos) {
  for (const std::size_t type : {0xfe0du, 0xffceu}) {
    const Hello hello =
        read_once(hello_with_extensions(server_name("public.test") + extension(type, "secret")));
    EXPECT_EQ(hello.state, State::complete);
    EXPECT_TRUE(hello.has_ech) << std::hex << type;
    EXPECT_TRUE(hello.has_sni);
  }
}

TEST(HelloReader, RefusesEveryFlawInTheMessage) {
  struct Flaw {
    const char* what;
    std::string stream;
  };
  const auto changed = [](auto change) {
    HelloParts parts;
    change(parts);
    return record(message(parts.body()));
  };
  const std::string good = HelloParts{}.body();
  const std::string name = name_entry("origin.test");
  const std::vector<Flaw> flaws{
      {"not a ClientHello", record(message(good, '\x02'))},
      {"HelloRequest", record(message("", '\0'))},
      {"empty body", record(message(""))},
      {"major version 2", changed([](HelloParts& p) { p.version = "\x02\x03"; })},
      {"major version 4", changed([](HelloParts& p) { p.version = "\x04\x03"; })},
      {"short random", changed([](HelloParts& p) { p.random.pop_back(); })},
      {"session id of 33", changed([](HelloParts& p) { p.session_id.assign(33, 's'); })},
      {"no cipher suite", changed([](HelloParts& p) { p.cipher_suites.clear(); })},
      {"half a cipher suite", changed([](HelloParts& p) { p.cipher_suites = "\x13\x01\x13"; })},
      {"no compression method", changed([](HelloParts& p) { p.compression.clear(); })},
      {"byte after the extensions", record(message(good + "x"))},
      {"extensions beyond the end", record(message(good.substr(0, good.size() - 1)))},
      {"one byte of extensions' length",
       record(message(good.substr(0, good.size() - prefixed(server_name("origin.test"), 2).size()) +
                      "\x01"))},
      {"half an extension header", hello_with_extensions(server_name("origin.test") + "\0\x17\0"s)},
      {"extension beyond the end", hello_with_extensions("\0\x17\0\x05xyz"s)},
      {"the name twice", hello_with_extensions(server_name("a.test") + server_name("b.test"))},
      {"another extension twice",
       hello_with_extensions(extension(23, "") + server_name("a.test") + extension(23, ""))},
      {"empty server_name", hello_with_extensions(extension(0, ""))},
      {"empty name list", hello_with_extensions(extension(0, prefixed("", 2)))},
      {"empty name", hello_with_extensions(server_name(""))},
      {"two names", hello_with_extensions(extension(0, prefixed(name + name_entry("b.test"), 2)))},
      {"a name of another type",
       hello_with_extensions(extension(0, prefixed(name_entry("a", 1), 2)))},
      {"another type, then a name",
       hello_with_extensions(extension(0, prefixed(name_entry("a", 1) + name, 2)))},
      {"NUL in the name", hello_with_extensions(server_name("a.test\0.b.test"s))},
      {"byte after the name list", hello_with_extensions(extension(0, prefixed(name, 2) + "x"))},
      {"byte after the name", hello_with_extensions(extension(0, prefixed(name + "x", 2)))},
      {"name list beyond the end", hello_with_extensions(extension(0, big_endian(99, 2) + name))},
      {"name beyond the end",
       hello_with_extensions(extension(0, prefixed("\0"s + big_endian(99, 2) + "abc", 2)))},
      {"handshake bytes after the hello", record(message(good) + "x")},
      {"a second hello in the same record", record(message(good) + message(good))},
      {"empty record first", record("") + record(message(good))},
      {"alert first", record("\x01\x70", '\x15') + record(message(good))},
      {"change_cipher_spec first", record("\x01", '\x14') + record(message(good))},
      {"early data first", record("data", '\x17') + record(message(good))},
  };
  for (const Flaw& flaw : flaws) {
    const Hello hello = read_once(flaw.stream);
    EXPECT_EQ(hello.state, State::not_tls) << flaw.what;
    EXPECT_FALSE(hello.has_sni) << flaw.what;
    decided_after(flaw.stream, State::not_tls);
  }
}

TEST(HelloReader, RefusesRecordsBetweenThePartsOfAHello) {
  const std::string text = message(HelloParts{}.body());
  const std::string begin = record(text.substr(0, 20)), end = record(text.substr(20));
  for (const std::string& between :
       {record(""), record("\x01", '\x14'), record("\x01\x70", '\x15'), record("x", '\x17')}) {
    std::string stream = begin;
    stream.append(between).append(end);
    EXPECT_EQ(read_once(stream).state, State::not_tls);
  }
  EXPECT_EQ(read_once(begin + end).state, State::complete);
}

TEST(HelloReader, RefusesOtherProtocolsAtTheirFirstByte) {
  for (const std::string_view opening :
       {"GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "PRI * HTTP/2.0\r\n",
        "\x80\x2e\x01\x03\x01", "\x05\x01\x00", "\x15\x03\x03"}) {
    EXPECT_EQ(decided_after(opening, State::not_tls), 1u) << opening;
  }
}

TEST(HelloReader, RefusesARecordHeaderAtItsFirstWrongByte) {
  EXPECT_EQ(decided_after("\x16\x02\x00", State::not_tls), 2u);                 // major version
  EXPECT_EQ(decided_after("\x16\x03\x01\x41\x00", State::not_tls), 4u);         // over 2^14
  EXPECT_EQ(decided_after("\x16\x03\x01\x40\x01"s, State::not_tls), 5u);        // 2^14 + 1
  EXPECT_EQ(decided_after("\x16\x03\x01\0\0"s, State::not_tls), 5u);            // empty
  EXPECT_EQ(decided_after("\x16\x03\x01\x01\0\x02"s, State::not_tls), 6u);      // a ServerHello
  EXPECT_EQ(decided_after("\x16\x03\x01\x01\0\x01\x02"s, State::not_tls), 7u);  // 128 KiB
  // A hello that ends before its record does, known from the lengths alone.
  EXPECT_EQ(decided_after("\x16\x03\x01\x01\0\x01\0\0\x30"s, State::not_tls), 9u);
}

TEST(HelloReader, ReadsAHelloOverRecordsOfAnySize) {
  const std::string text = message(HelloParts{}.body());
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const std::string stream = in_records(text, size);
    HelloReader reader;
    const Hello hello = reader.read(stream);
    ASSERT_EQ(hello.state, State::complete) << size;
    EXPECT_EQ(hello.sni, "origin.test") << size;
    EXPECT_EQ(hello.consumed, stream.size()) << size;
    EXPECT_EQ(decided_after(stream, State::complete), stream.size()) << size;
  }
}

TEST(HelloReader, LeavesTheBytesAfterTheHellosRecordAlone) {
  const std::string stream = record(message(HelloParts{}.body()));
  for (const std::string& rest : {record("\x01", '\x14'), "GET /"s, record(message("x"))}) {
    const Hello hello = read_once(stream + rest);
    EXPECT_EQ(hello.state, State::complete);
    EXPECT_EQ(hello.consumed, stream.size());
  }
}

std::string hello_of_size(std::size_t body_bytes) {
  HelloParts parts;
  // Two extensions, since one holds less than 64 KiB.
  const std::size_t rest = body_bytes - parts.body().size() - 8;
  parts.extensions += extension(100, std::string(rest / 2, 'x'));
  parts.extensions += extension(101, std::string(rest - rest / 2, 'x'));
  return message(parts.body());
}

TEST(HelloReader, TakesSixtyFourKilobytesAndNotAByteMore) {
  // The extensions' own length has 16 bits, so a well-formed hello of 64 KiB needs long suites too.
  HelloParts parts;
  parts.cipher_suites.assign(20000, 'c');
  parts.extensions += extension(100, "");
  const std::size_t missing = HelloReader::max_hello_bytes - parts.body().size();
  parts.extensions += extension(101, std::string(missing - 4, 'x'));
  ASSERT_EQ(parts.body().size(), HelloReader::max_hello_bytes);
  EXPECT_EQ(read_once(in_records(message(parts.body()), 16384)).state, State::complete);

  parts.session_id.pop_back();
  parts.cipher_suites += "cc";
  ASSERT_EQ(parts.body().size(), HelloReader::max_hello_bytes + 1);
  const std::string too_long = in_records(message(parts.body()), 16384);
  EXPECT_EQ(decided_after(too_long, State::not_tls), 9u);
}

TEST(HelloReader, NeverAsksForMoreThanItsStreamMayHold) {
  // One handshake byte a record is six bytes of stream each.
  const std::string stream = in_records(hello_of_size(60000), 1);
  ASSERT_GT(stream.size(), HelloReader::max_stream_bytes);
  EXPECT_LE(decided_after(stream, State::not_tls), HelloReader::max_stream_bytes);
  EXPECT_EQ(read_once(stream).state, State::not_tls);
  const std::string fine = in_records(hello_of_size(60000), 16);
  EXPECT_EQ(decided_after(fine, State::complete), fine.size());
}

TEST(HelloReader, KeepsWhatItReadWhenTheBufferMoves) {
  const std::string stream = in_records(hello_of_size(3000), 700);
  HelloReader reader;
  Hello hello;
  for (std::size_t size = 0; size <= stream.size(); size += 100) {
    const std::string copy = stream.substr(0, size);
    hello = reader.read(copy);
    EXPECT_EQ(hello.state, State::need_more);
  }
  hello = reader.read(stream);
  EXPECT_EQ(hello.state, State::complete);
  EXPECT_EQ(hello.sni, "origin.test");
}

TEST(SecondHello, MayFollowWhatServersDropUnread) {
  const std::string hello = record(message(HelloParts{}.body()));
  const std::string ccs = record("\x01", '\x14');
  const std::string early_data = record(std::string(16384 + 256, 'x'), '\x17');
  for (const std::string& before :
       {""s, ccs, ccs + early_data, early_data + early_data, ccs + ccs}) {
    std::string stream = before;
    stream += hello;
    EXPECT_EQ(decided_after(stream, State::complete, HelloReader::for_second_hello()),
              stream.size());
    HelloReader reader = HelloReader::for_second_hello();
    EXPECT_EQ(reader.read(stream + "rest").consumed, stream.size());
  }
}

TEST(SecondHello, RefusesAnythingElseBeforeItAndBetweenItsParts) {
  const std::string text = message(HelloParts{}.body()), hello = record(text);
  const std::string ccs = record("\x01", '\x14'), early_data = record("data", '\x17');
  const std::string begin = record(text.substr(0, 9)), end = record(text.substr(9));
  for (const std::string& before :
       {record("\x02", '\x14'), record("\x01\x01", '\x14'), record("", '\x14'), record("", '\x17'),
        record("\x01\x70", '\x15'), record(std::string(16384 + 257, 'x'), '\x17'), begin + ccs,
        begin + early_data}) {
    std::string stream = before;
    stream += before.starts_with(begin) ? end : hello;
    decided_after(stream, State::not_tls, HelloReader::for_second_hello());
  }
}

TEST(SecondHello, IsNotWaitedForWithoutEnd) {
  std::string stream;
  while (stream.size() <= HelloReader::max_stream_bytes) stream += record("data", '\x17');
  EXPECT_LE(decided_after(stream, State::not_tls, HelloReader::for_second_hello()),
            HelloReader::max_stream_bytes);
}

}  // namespace
}  // namespace stile::tls
