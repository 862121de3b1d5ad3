// Queries of agents: what is read, what is refused, and the answers byte by byte.
#include "proxy/dns/question.h"

#include <gtest/gtest.h>

#include "tests/proxy/dns/packet.h"

namespace stile::dns {
namespace {

using State = Question::State;

struct QueryParts {
  std::uint16_t flags = 0x0100;  // recursion desired
  std::size_t questions = 1, answers = 0, authorities = 0, additional = 0;
  Bytes name = wire("a.test");
  std::uint16_t type = type_a, rclass = 1;
  Bytes rest;

  [[nodiscard]] Bytes bytes() const {
    return u16(0x1234) + u16(flags) + u16(questions) + u16(answers) + u16(authorities) +
           u16(additional) + name + u16(type) + u16(rclass) + rest;
  }
};

Bytes opt(std::uint8_t version = 0, Bytes options = {}) {
  return Bytes{0} + u16(41) + u16(1232) + Bytes{0, version, 0, 0} + u16(options.size()) + options;
}

Bytes answer_bytes(const Bytes& query, const NameAnswer& answer) {
  std::string out;
  write_answer(out, query, read_question(query), answer);
  return {out.begin(), out.end()};
}

TEST(ReadQuestion, ReadsTheNameInLowerCase) {
  QueryParts parts;
  parts.name = wire("Api.Example.TEST");
  const Question question = read_question(parts.bytes());
  EXPECT_EQ(question.state, State::valid);
  EXPECT_EQ(question.name, "api.example.test");
  EXPECT_EQ(question.type, type_a);
  EXPECT_FALSE(question.has_edns);
}

TEST(ReadQuestion, WritesBytesOfNoHostNameAsNumbers) {
  QueryParts parts;
  parts.name = Bytes{3, 'a', '.', 'b', 4, 't', 0xe9, ' ', '\n', 0};
  EXPECT_EQ(read_question(parts.bytes()).name, "a\\046b.t\\233\\032\\010");
}

TEST(ReadQuestion, AcceptsOneOptRecordAndItsOptions) {
  QueryParts parts;
  parts.additional = 1;
  parts.rest = opt(0, u16(10) + u16(8) + u32(1) + u32(2));  // a cookie
  const Question question = read_question(parts.bytes());
  EXPECT_EQ(question.state, State::valid);
  EXPECT_TRUE(question.has_edns);
}

TEST(ReadQuestion, RefusesEverythingElse) {
  const auto fault = [](auto change) {
    QueryParts parts;
    change(parts);
    const Question question = read_question(parts.bytes());
    EXPECT_EQ(question.state, State::invalid);
    return question.fault;
  };
  using P = QueryParts;
  EXPECT_EQ(fault([](P& p) { p.flags = 0x2000; }), Rcode::not_implemented);  // NOTIFY
  EXPECT_EQ(fault([](P& p) { p.flags = 0x2800; }), Rcode::not_implemented);  // UPDATE
  EXPECT_EQ(fault([](P& p) { p.questions = 0; }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.questions = 2; }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.answers = 1; }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.authorities = 1; }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.additional = 1; }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.additional = 2, p.rest = opt() + opt(); }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.rest = {0}; }), Rcode::format_error);  // bytes after the end
  EXPECT_EQ(fault([](P& p) { p.rclass = 3; }), Rcode::refused);       // CHAOS
  EXPECT_EQ(fault([](P& p) { p.name = pointer(12); }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.name = labels("a") + pointer(0); }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.name = Bytes{0x41, 'a', 0}; }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.name = labels("a"); }), Rcode::format_error);
  EXPECT_EQ(fault([](P& p) { p.additional = 1, p.rest = opt(1); }), Rcode::bad_version);
  EXPECT_EQ(fault([](P& p) {
              p.additional = 1;
              p.rest = a("a.test", {1, 2, 3, 4}).bytes();
            }),
            Rcode::format_error);
}

TEST(ReadQuestion, BoundsTheNameAt255Bytes) {
  const auto of_length = [](std::size_t last) {
    Bytes name;
    for (int i = 0; i < 3; ++i) name = name + labels(std::string(63, 'a'));
    QueryParts parts;
    parts.name = name + wire(std::string(last, 'b'));
    return read_question(parts.bytes()).state;
  };
  EXPECT_EQ(of_length(61), State::valid);  // 3 * 64 + 62 + 1 = 255
  EXPECT_EQ(of_length(62), State::invalid);
}

// Found by the fuzzer: the text of the last label was added before the length was checked.
TEST(ReadQuestion, BoundsTheTextOfANameThatIsTooLong) {
  Bytes name;
  for (int i = 0; i < 5; ++i) name = name + labels(std::string(63, ':'));
  QueryParts parts;
  parts.name = name + Bytes{0};
  const Question question = read_question(parts.bytes());
  EXPECT_EQ(question.state, State::invalid);
  EXPECT_LE(question.name.size(), 4U * 255);
}

TEST(ReadQuestion, IgnoresWhatIsNoQuery) {
  QueryParts parts;
  parts.flags = 0x8100;
  EXPECT_EQ(read_question(parts.bytes()).state, State::ignored);
  const Bytes whole = QueryParts{}.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Question cut = read_question(Packet{whole}.first(size));
    EXPECT_EQ(cut.state, size < header_bytes ? State::ignored : State::invalid) << size;
  }
  EXPECT_EQ(read_question(Bytes(max_query_bytes + 1)).state, State::ignored);
}

TEST(WriteAnswer, RepeatsTheQuestionAndPointsToIt) {
  QueryParts parts;
  parts.name = wire("A.tEst");
  EXPECT_EQ(answer_bytes(parts.bytes(), {Rcode::ok, acl::Address::v4(0xc6120002), 60}),
            u16(0x1234) + u16(0x8180) + u16(1) + u16(1) + u16(0) + u16(0) + wire("A.tEst") +
                u16(1) + u16(1) + pointer(12) + u16(1) + u16(1) + u32(60) + u16(4) +
                u32(0xc6120002));
}

TEST(WriteAnswer, WithoutAddressHasNoRecord) {
  QueryParts parts;
  parts.type = type_aaaa;
  parts.additional = 1;
  parts.rest = opt();
  const Bytes question = wire("a.test") + u16(type_aaaa) + u16(1);
  EXPECT_EQ(answer_bytes(parts.bytes(), {}),
            u16(0x1234) + u16(0x8180) + u16(1) + u16(0) + u16(0) + u16(1) + question + opt());
  EXPECT_EQ(answer_bytes(parts.bytes(), {Rcode::no_name, {}, 0}),
            u16(0x1234) + u16(0x8183) + u16(1) + u16(0) + u16(0) + u16(1) + question + opt());
}

TEST(WriteAnswer, ToAnUnreadableQuestionIsAHeader) {
  QueryParts parts;
  parts.questions = 2;
  EXPECT_EQ(answer_bytes(parts.bytes(), {Rcode::format_error, {}, 0}),
            u16(0x1234) + u16(0x8181) + u16(0) + u16(0) + u16(0) + u16(0));
  parts.questions = 1;
  parts.additional = 1;
  parts.rest = opt(1);
  const Bytes answer = answer_bytes(parts.bytes(), {Rcode::bad_version, {}, 0});
  EXPECT_EQ(answer[3] & 0xf, 0);
  EXPECT_EQ(answer[answer.size() - 6], 1);  // the upper bits of the code, in OPT
}

TEST(Framed, NeedsEveryByteOfTheMessage) {
  const Bytes query = QueryParts{}.bytes();
  const Bytes framed = u16(query.size()) + query + u16(7);
  const std::string text{framed.begin(), framed.end()};
  for (std::size_t size = 0; size < query.size() + 2; ++size) {
    EXPECT_EQ(read_framed(std::string_view{text}.substr(0, size)).state, Framed::State::need_more);
  }
  const Framed whole = read_framed(text);
  ASSERT_EQ(whole.state, Framed::State::complete);
  EXPECT_EQ(whole.consumed, query.size() + 2);
  EXPECT_EQ((Bytes{whole.message.begin(), whole.message.end()}), query);
  std::string answer;
  write_framed_answer(answer, whole.message, read_question(whole.message), {});
  EXPECT_EQ(read_framed(answer).consumed, answer.size());
}

TEST(Framed, RefusesALengthThatNoQueryHas) {
  EXPECT_EQ(read_framed("\x10\x01").state, Framed::State::too_long);  // 4097
  EXPECT_EQ(read_framed(std::string_view{"\x10\x00", 2}).state, Framed::State::need_more);
}

}  // namespace
}  // namespace stile::dns
