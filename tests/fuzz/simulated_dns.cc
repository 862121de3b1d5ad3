// A DNS server in the fuzzer's hand: a DnsChannel whose questions wait until an answer is played.
#include <algorithm>
#include <vector>

#include "proxy/dns/channel.h"
#include "tests/fuzz/simulation.h"
#include "tests/proxy/dns/packet.h"

namespace stile {
namespace {

struct Question {
  const dns::DnsChannel* asked_by;
  std::string name;
  dns::Rtype type;
  dns::DnsChannel::Callback done;
};

std::vector<Question>& questions() {
  static std::vector<Question> all;
  return all;
}

std::string with_other_letters(std::string name) {
  for (char& c : name) {
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') c = static_cast<char>(c ^ 0x20);
  }
  return name;
}

dns::Bytes packet(const Question& question, fuzz::DnsAnswer answer) {
  using fuzz::DnsAnswer;
  const bool v4 = question.type == dns::Rtype::a;
  const dns::Bytes open = v4 ? dns::Bytes{1, 2, 3, 7} : dns::Bytes{0x26, 0, 0, 0, 0, 0, 0, 0,  //
                                                                   0,    0, 0, 0, 0, 0, 0, 7};
  const dns::Bytes inner = v4 ? dns::Bytes{10, 0, 0, 7} : dns::Bytes{0xfd, 0, 0, 0, 0, 0, 0, 0,  //
                                                                     0,    0, 0, 0, 0, 0, 0, 7};
  const auto address = [&](std::string_view owner, const dns::Bytes& bytes) {
    return dns::RecordParts{dns::wire(owner), static_cast<std::uint16_t>(question.type), bytes, 1};
  };
  dns::MessageParts message;
  message.question = dns::wire(question.name);
  message.type = static_cast<std::uint16_t>(question.type);
  switch (answer) {
    case DnsAnswer::address:
      message.answers = {address(question.name, open)};
      break;
    case DnsAnswer::address_behind_alias:
      message.answers = {dns::cname(question.name, "x.test"), address("x.test", open)};
      break;
    case DnsAnswer::address_among_private:
      message.answers = {address(question.name, inner), address(question.name, open)};
      break;
    case DnsAnswer::private_address:
      message.answers = {address(question.name, inner)};
      break;
    case DnsAnswer::private_behind_alias:
      message.answers = {dns::cname(question.name, "x.test"), address("x.test", inner)};
      break;
    case DnsAnswer::other_name:
      message.answers = {address("x.test", open)};
      break;
    case DnsAnswer::other_letters:
      message.question = dns::wire(with_other_letters(question.name));
      message.answers = {address(question.name, open)};
      break;
    case DnsAnswer::no_name:
      message.flags = 0x8183;
      break;
    case DnsAnswer::failure:
      message.flags = 0x8182;
      break;
    case DnsAnswer::garbage:
      return {0xff, 0xff};
    default:
      return {};
  }
  return message.bytes();
}

}  // namespace

void fuzz::answer_question(DnsAnswer answer) {
  if (questions().empty()) return;
  const Question question = std::move(questions().front());
  questions().erase(questions().begin());
  question.done(packet(question, answer));
}

namespace dns {

Result<std::unique_ptr<DnsChannel>> DnsChannel::open(Loop& loop, const Options&) {
  return std::unique_ptr<DnsChannel>{new DnsChannel{loop}};
}

DnsChannel::~DnsChannel() {
  for (;;) {
    const auto own = std::find_if(questions().begin(), questions().end(),
                                  [this](const Question& q) { return q.asked_by == this; });
    if (own == questions().end()) return;
    const Question question = std::move(*own);
    questions().erase(own);
    question.done({});
  }
}

void DnsChannel::query(const std::string& name, Rtype type, std::uint16_t, Callback done) {
  questions().push_back({this, name, type, std::move(done)});
}

void DnsChannel::on_ready(Socket&) {}
void DnsChannel::on_deadline() {}

}  // namespace dns
}  // namespace stile
