// Linker: number, link, hash.
#include "audit/chain.h"

#include "audit/text.h"
#include "base/decimal.h"

namespace stile::audit {

void Linker::append(std::string& out, ChainHead& head, std::string_view before,
                    std::string_view after) {
  const std::size_t begin = out.size();
  out += before;
  append_decimal(out, ++head.seq);
  out += after;
  if (chain_) {
    out += ",\"chain\":\"";
    out += chain_name;
    out += "\",\"prev\":\"";
    out += hash_text(head.hash);
    out += '"';
  }
  out += '}';
  // Also without a chain: the journal records the head, and an audit-gap may name it.
  head.hash = sha_.hash(std::string_view{out}.substr(begin));
  out += '\n';
}

}  // namespace stile::audit
