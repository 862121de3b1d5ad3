// answer_question: the name server's answer to one question of an agent, from its policy alone. The
// real DNS is never asked.
#pragma once

#include <memory>
#include <string>

#include "proxy/base/task.h"
#include "proxy/dns/question.h"
#include "proxy/session/context.h"

namespace stile::session {

// At most so many questions of one agent are answered per second, and twice as many after a quiet
// second. Others are dropped and counted.
inline constexpr std::uint32_t questions_per_second = 500;

struct Asker {
  std::shared_ptr<const acl::AgentPolicy> agent;  // null: unknown
  acl::Address source;
  std::uint16_t port = 0;
};

// Appends the answer to `out`; nothing: the question is not answered. A refusal is in the log
// before this returns. The caller keeps `query` and `out` until then.
enum class NameTransport : bool { datagram, stream };
Task<> answer_question(Context& context, const Asker& asker, std::string_view query,
                       NameTransport transport, std::string& out);

}  // namespace stile::session
