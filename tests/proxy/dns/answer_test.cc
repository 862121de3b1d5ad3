// DNS answers: which addresses count, and which messages do not.
#include "proxy/dns/answer.h"

#include <gtest/gtest.h>

#include "tests/proxy/dns/packet.h"

namespace stile::dns {
namespace {

using Status = Answer::Status;

const Bytes one{192, 0, 2, 1}, two{192, 0, 2, 2};

Answer read(const MessageParts& parts) { return read_answer(parts.bytes(), "A.tesT", Rtype::a); }

Answer with_answers(std::vector<RecordParts> answers) {
  MessageParts parts;
  parts.answers = std::move(answers);
  return read(parts);
}

std::vector<std::uint32_t> values(const Answer& answer) {
  std::vector<std::uint32_t> list;
  for (const acl::Address& address : answer.addresses) list.push_back(address.v4_value());
  return list;
}

TEST(DnsAnswer, GivesTheAddressesOfTheName) {
  const Answer answer = with_answers({a("a.test", one, 60), a("A.TEST", two, 30)});
  EXPECT_EQ(answer.status, Status::ok);
  EXPECT_EQ(values(answer), (std::vector<std::uint32_t>{0xc0000201, 0xc0000202}));
  EXPECT_EQ(answer.ttl_seconds, 30u);
}

TEST(DnsAnswer, GivesIpv6Addresses) {
  MessageParts parts;
  parts.type = type_aaaa;
  Bytes address{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  parts.answers = {{wire("a.test"), type_aaaa, address}, a("a.test", one)};
  const Answer answer = read_answer(parts.bytes(), "A.tesT", Rtype::aaaa);
  EXPECT_EQ(answer.status, Status::ok);
  ASSERT_EQ(answer.addresses.size(), 1u);
  EXPECT_FALSE(answer.addresses[0].is_v4());
  EXPECT_EQ(answer.addresses[0].high(), 0x20010db800000000u);
  EXPECT_EQ(answer.addresses[0].low(), 1u);
}

TEST(DnsAnswer, TakesTheQuestionWithADotAtItsEnd) {
  MessageParts parts;
  parts.answers = {a("a.test", one)};
  EXPECT_EQ(read_answer(parts.bytes(), "A.tesT.", Rtype::a).status, Status::ok);
}

TEST(DnsAnswer, FollowsCnamesInAnyOrder) {
  const Answer answer = with_answers({a("c.test", one, 50), cname("b.test", "C.test", 20),
                                      a("b.test", two), cname("a.TEST", "b.test", 40)});
  EXPECT_EQ(answer.status, Status::ok);
  EXPECT_EQ(values(answer), (std::vector<std::uint32_t>{0xc0000201}));
  EXPECT_EQ(answer.ttl_seconds, 20u);
}

TEST(DnsAnswer, IgnoresWhatIsNotOnTheWay) {
  MessageParts parts;
  parts.answers = {
      a("other.test", two),
      cname("other.test", "elsewhere.test"),
      cname("other.test", "twice.test"),
      a("sub.a.test", two),
      a("test", two),
      {wire("a.test"), type_a, two, 1, 3},  // class CH
      {wire("a.test"), type_ns, wire("ns.test")},
      {wire("a.test"), 41, Bytes(100, 0xff)},  // unknown to us, whatever is in it
      a("a.test", one),
  };
  const Answer answer = read(parts);
  EXPECT_EQ(answer.status, Status::ok);
  EXPECT_EQ(values(answer), (std::vector<std::uint32_t>{0xc0000201}));
  EXPECT_EQ(answer.ttl_seconds, 300u);
}

TEST(DnsAnswer, DoesNotConfuseLabelsThatContainDots) {
  MessageParts parts;
  const Bytes dotted = Bytes{6} + Bytes{'a', '.', 't', 'e', 's', 't'} + Bytes{0};
  parts.answers = {{dotted, type_a, two}};
  EXPECT_EQ(read(parts).status, Status::no_data);
  parts.question = dotted;
  EXPECT_EQ(read(parts).status, Status::malformed);
}

std::vector<RecordParts> chain(int cnames) {
  std::vector<RecordParts> records;
  std::string owner = "a.test";
  for (int i = 0; i < cnames; ++i) {
    const std::string target = "n" + std::to_string(i) + ".test";
    records.push_back(cname(owner, target));
    owner = target;
  }
  records.push_back(a(owner, one));
  return records;
}

TEST(DnsAnswer, FollowsAtMostSixteenCnames) {
  EXPECT_EQ(with_answers(chain(max_cnames)).status, Status::ok);
  EXPECT_EQ(with_answers(chain(max_cnames + 1)).status, Status::malformed);
}

TEST(DnsAnswer, RefusesChainsThatGoInCirclesOrFork) {
  EXPECT_EQ(with_answers({cname("a.test", "a.test")}).status, Status::malformed);
  EXPECT_EQ(
      with_answers({cname("a.test", "b.test"), cname("b.test", "a.test"), a("a.test", one)}).status,
      Status::malformed);
  EXPECT_EQ(
      with_answers({cname("a.test", "b.test"), cname("a.test", "c.test"), a("b.test", one)}).status,
      Status::malformed);
  EXPECT_EQ(
      with_answers({cname("a.test", "b.test"), cname("a.test", "b.test"), a("b.test", one)}).status,
      Status::malformed);
}

TEST(DnsAnswer, TakesNoAddressOfANameThatIsAnAlias) {
  const Answer answer = with_answers({a("a.test", two), cname("a.test", "b.test")});
  EXPECT_EQ(answer.status, Status::no_data);
  EXPECT_TRUE(answer.addresses.empty());
}

TEST(DnsAnswer, CountsATtlWithItsTopBitAsZero) {
  EXPECT_EQ(with_answers({a("a.test", one, 0x80000001)}).ttl_seconds, 0u);
  EXPECT_EQ(with_answers({a("a.test", one, 0x7fffffff)}).ttl_seconds, 0x7fffffffu);
}

TEST(DnsAnswer, KeepsAtMostSixteenAddresses) {
  std::vector<RecordParts> records(200, a("a.test", one));
  const Answer answer = with_answers(records);
  EXPECT_EQ(answer.status, Status::ok);
  EXPECT_EQ(answer.addresses.size(), 16u);
  records.resize(257, a("a.test", one));
  EXPECT_EQ(with_answers(records).status, Status::malformed);
}

TEST(DnsAnswer, TellsWhyThereIsNoAddress) {
  MessageParts parts;
  EXPECT_EQ(read(parts).status, Status::no_data);
  parts.flags = 0x8183;
  EXPECT_EQ(read(parts).status, Status::no_name);
  parts.answers = {a("a.test", one)};
  EXPECT_EQ(read(parts).status, Status::no_name);
  EXPECT_TRUE(read(parts).addresses.empty());
  for (const int rcode : {1, 2, 4, 5, 9, 15}) {
    parts.flags = static_cast<std::uint16_t>(0x8180 | rcode);
    EXPECT_EQ(read(parts).status, Status::failed) << rcode;
    EXPECT_TRUE(read(parts).addresses.empty()) << rcode;
  }
}

TEST(DnsAnswer, BelievesAnAbsenceAsLongAsItsZoneSays) {
  struct Case {
    std::vector<RecordParts> answers, authorities;
    std::uint32_t ttl;
  };
  const std::vector<Case> cases{
      {{}, {}, 0},
      {{}, {soa("test", 300, 60)}, 60},
      {{}, {soa("a.test", 30, 60)}, 30},
      {{}, {soa("", 30, 60)}, 30},
      {{}, {soa("b.test", 30, 60)}, 0},  // another zone's
      {{}, {soa("est", 30, 60)}, 0},     // not at a label's border
      {{},
       {soa("b.test", 9, 9), {wire("test"), type_ns, wire("ns.test")}, soa("test", 30, 60)},
       30},
      {{cname("a.test", "b.other", 10)}, {soa("other", 30, 60)}, 10},
      {{cname("a.test", "b.other", 90)}, {soa("other", 30, 60)}, 30},
      {{cname("a.test", "b.other", 90)}, {soa("test", 30, 60)}, 0},
      {{}, {soa("test", 0x80000000, 60)}, 0},
      {{}, {{wire("test"), type_soa, Bytes(19, 1)}}, 0},
  };
  constexpr std::uint16_t no_error = 0x8180, name_error = 0x8183;
  for (const std::uint16_t flags : {no_error, name_error}) {
    for (const Case& c : cases) {
      MessageParts parts;
      parts.flags = flags;
      parts.answers = c.answers;
      parts.authorities = c.authorities;
      const Answer answer = read(parts);
      EXPECT_EQ(answer.status, flags == no_error ? Status::no_data : Status::no_name);
      EXPECT_EQ(answer.ttl_seconds, c.ttl) << (&c - cases.data());
    }
  }
}

TEST(DnsAnswer, MustEchoTheQuestionLetterByLetter) {
  struct Case {
    const char* question;
    Status status;
  };
  const Case cases[]{
      {"A.tesT", Status::ok},
      {"a.tesT", Status::case_mismatch},
      {"A.test", Status::case_mismatch},
      {"a.TESt", Status::case_mismatch},
      {"B.tesT", Status::malformed},
      {"A.tesT.x", Status::malformed},
      {"A.tes", Status::malformed},
      {"", Status::malformed},
  };
  for (const Case& c : cases) {
    MessageParts parts;
    parts.question = wire(c.question);
    parts.answers = {a("a.test", one)};
    EXPECT_EQ(read(parts).status, c.status) << c.question;
    EXPECT_EQ(read(parts).addresses.empty(), c.status != Status::ok) << c.question;
  }
}

TEST(DnsAnswer, RefusesWhatIsNoAnswerToOneQuestion) {
  const auto changed = [](auto change) {
    MessageParts parts;
    parts.answers = {a("a.test", one)};
    change(parts);
    return read(parts).status;
  };
  EXPECT_EQ(changed([](MessageParts&) {}), Status::ok);
  EXPECT_EQ(changed([](MessageParts& p) { p.flags = 0x0100; }), Status::malformed);  // a query
  EXPECT_EQ(changed([](MessageParts& p) { p.flags = 0x8980; }), Status::malformed);  // opcode 1
  EXPECT_EQ(changed([](MessageParts& p) { p.flags = 0xa180; }), Status::malformed);  // opcode 4
  EXPECT_EQ(changed([](MessageParts& p) { p.flags = 0x8380; }), Status::malformed);  // truncated
  EXPECT_EQ(changed([](MessageParts& p) { p.questions = 0; }), Status::malformed);
  EXPECT_EQ(changed([](MessageParts& p) { p.questions = 2; }), Status::malformed);
  EXPECT_EQ(changed([](MessageParts& p) { p.type = type_aaaa; }), Status::malformed);
  EXPECT_EQ(changed([](MessageParts& p) { p.rclass = 3; }), Status::malformed);
}

TEST(DnsAnswer, RefusesRecordsOfTheWrongLength) {
  EXPECT_EQ(with_answers({a("a.test", Bytes{1, 2, 3})}).status, Status::malformed);
  EXPECT_EQ(with_answers({a("a.test", Bytes(16, 1))}).status, Status::malformed);
  EXPECT_EQ(with_answers({a("a.test", one), a("a.test", {})}).status, Status::malformed);
  EXPECT_TRUE(with_answers({a("a.test", one), a("a.test", {})}).addresses.empty());
  EXPECT_EQ(with_answers({{wire("a.test"), type_cname, wire("b.test") + Bytes{0}}}).status,
            Status::malformed);
  EXPECT_EQ(with_answers({{wire("a.test"), type_cname, labels("b.test")}, a("b.test", one)}).status,
            Status::malformed);
}

TEST(DnsAnswer, RefusesEveryTruncation) {
  MessageParts parts;
  parts.answers = {cname("a.test", "b.test"), {pointer(12), type_ns, {}}, a("b.test", one)};
  const Bytes whole = parts.bytes();
  ASSERT_EQ(read_answer(whole, "A.tesT", Rtype::a).status, Status::ok);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Answer answer = read_answer(std::span{whole}.first(size), "A.tesT", Rtype::a);
    EXPECT_EQ(answer.status, Status::malformed) << size;
    EXPECT_TRUE(answer.addresses.empty()) << size;
  }
}

TEST(DnsAnswer, RefusesWhenItsOwnQuestionIsNoName) {
  const Bytes message = MessageParts{}.bytes();
  for (const std::string& name : {std::string{".."}, std::string{"a..test"}, std::string{".a"},
                                  std::string(64, 'a'), std::string(300, 'a')}) {
    EXPECT_EQ(read_answer(message, name, Rtype::a).status, Status::malformed) << name;
  }
}

}  // namespace
}  // namespace stile::dns
