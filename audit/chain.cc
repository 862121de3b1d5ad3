// Linker: number, link, hash.
#include "audit/chain.h"

#include "base/appender.h"

namespace stile::audit {
namespace {

// A number, the name of the chain, a hash, and what stands between them.
constexpr std::size_t most_added = 160;

}  // namespace

void Linker::append(std::string& out, ChainHead& head, std::string_view before,
                    std::string_view after) {
  const std::size_t begin = out.size();
  {
    Appender line{out, before.size() + after.size() + most_added};
    line.plain(before);
    line.number(++head.seq);
    line.plain(after);
    if (chain_) {
      line.plain(",\"chain\":\"");
      line.plain(chain_name);
      line.plain("\",\"prev\":\"");
      line.plain(hash_text(head.hash));
      line.plain("\"");
    }
    line.plain("}");
  }
  // Also without a chain: the journal records the head, and an audit-gap may name it.
  head.hash = sha_.hash(std::string_view{out}.substr(begin));
  out += '\n';
}

}  // namespace stile::audit
