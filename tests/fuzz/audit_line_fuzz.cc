// Fuzzes the reader of audit lines, the check of the chain, and the writers with an agent's bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "audit/batch.h"
#include "audit/chain_check.h"
#include "audit/line.h"
#include "audit/show.h"
#include "audit/text.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::audit;
using stile::fuzz::arrival_sizes;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

// Whatever is read as a line has one meaning, and no beginning of it is a line or foreign.
void check_reader(std::string_view bytes) {
  Line line;
  if (read_line(bytes, line) != LineKind::whole) return;
  STILE_FUZZ_CHECK(is_printable(bytes));
  STILE_FUZZ_CHECK(is_printable(describe(line)));
  for (std::size_t index = 0; index < key_count; ++index) {
    const Key key = static_cast<Key>(index);
    if (key == Key::stripped) continue;  // a list: raw has its brackets and quotes
    std::string again;
    append_escaped(again, line.text(key));
    // The reader takes \u0041 for A as well; the writer has one spelling for each byte.
    STILE_FUZZ_CHECK(again.size() <= line.raw(key).size());
  }
  Line beginning;
  for (const std::size_t size : arrival_sizes(bytes)) {
    if (size == bytes.size()) break;
    STILE_FUZZ_CHECK(read_line(bytes.substr(0, size), beginning) == LineKind::torn);
  }
}

// The whole input as a log: it never holds further than the first line that does not.
void check_chain(std::string_view log) {
  ChainCheck check;
  Line line;
  LinePlace place{"log", 0};
  while (!log.empty() && !check.violation()) {
    const std::size_t length = std::min(log.find('\n'), log.size());
    const std::uint64_t before = check.head().seq;
    ++place.line;
    if (check.add(place, log.substr(0, length), line)) {
      STILE_FUZZ_CHECK(check.head().seq == before + 1 || check.first_seq() == check.head().seq);
    }
    log.remove_prefix(std::min(length + 1, log.size()));
  }
  check.finish(true);
  if (check.violation()) STILE_FUZZ_CHECK(check.violation()->place.line <= place.line);
}

// What an agent sends becomes exactly one line, and reads back as it was sent.
void check_writers(std::string_view bytes) {
  Record record;
  record.event = Event::deny;
  record.method = record.host = record.path = record.sni = bytes;
  record.stripped = {bytes, bytes};
  Batch json{Format::json};
  json.add(record);
  const auto piece = json.piece(0);
  const std::string text = std::string{piece.before} + "1" + std::string{piece.after} + "}";
  Line line;
  STILE_FUZZ_CHECK(read_line(text, line) == LineKind::whole);
  STILE_FUZZ_CHECK(line.text(Key::host) == bytes.substr(0, max_field_bytes));
  STILE_FUZZ_CHECK(line.text(Key::path) == bytes.substr(0, max_field_bytes));

  Batch squid{Format::squid};
  squid.add(record);
  const std::string_view native = squid.piece(0).after;
  STILE_FUZZ_CHECK(native.ends_with('\n') && is_printable(native.substr(0, native.size() - 1)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  check_reader(bytes.substr(0, bytes.find('\n')));
  check_chain(bytes);
  check_writers(bytes);
  return 0;
}
