// squid's built-in logformat "squid":
//   %ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt
#include "audit/squid_line.h"

#include <algorithm>

#include "audit/squid_fields.h"
#include "audit/text.h"
#include "base/decimal.h"

namespace stile::audit {

void append_squid(std::string& out, const Record& record) {
  if (record.event != Event::close && record.event != Event::deny) return;
  const auto millis = static_cast<std::uint64_t>(std::max<std::int64_t>(record.time_us, 0)) / 1000;
  append_decimal(out, millis / 1000);
  out += '.';
  append_padded(out, millis % 1000, 3, '0');
  out += ' ';
  append_padded(out, record.duration_ms.value_or(0), 6, ' ');
  out += ' ';
  append_word(out, address_of(record.src));
  out += ' ';
  append_tag(out, record);
  out += '/';
  append_padded(out, static_cast<std::uint64_t>(status_of(record)), 3, '0');
  out += ' ';
  append_decimal(out, record.bytes_down.value_or(0));
  out += ' ';
  append_word(out, record.method.empty() ? "NONE" : record.method);
  out += ' ';
  append_target(out, record);
  out += ' ';
  append_word(out, record.agent);
  out += ' ';
  out += hierarchy_of(record);
  out += '/';
  append_word(out, address_of(record.origin));
  out += ' ';
  out += content_type_of(record);
  out += '\n';
}

}  // namespace stile::audit
