// LogFormat: a compiled `logformat` of squid.
#include "audit/log_format.h"

#include <algorithm>
#include <ctime>

#include "audit/squid_fields.h"
#include "audit/text.h"
#include "base/decimal.h"

namespace stile::audit {
namespace {

constexpr std::size_t max_width = 256;
constexpr const char* default_time = "%d/%b/%Y:%H:%M:%S %z";

std::uint64_t millis(const Record& record) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(record.time_us, 0)) / 1000;
}

std::string_view port_of(std::string_view endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  return colon == endpoint.npos ? std::string_view{} : endpoint.substr(colon + 1);
}

void append_time(std::string& out, const Record& record, const std::string& argument,
                 std::tm* (*convert)(const std::time_t*, std::tm*)) {
  const auto second = static_cast<std::time_t>(millis(record) / 1000);
  std::tm parts{};
  char text[128];
  const char* format = argument.empty() ? default_time : argument.c_str();
  if (convert(&second, &parts) == nullptr) return;
  const std::size_t size = std::strftime(text, sizeof text, format, &parts);
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_control = text[i] >= 0 && text[i] < ' ';
    out += is_control ? ' ' : text[i];  // strftime's %n would start a new line
  }
}

using Out = std::string&;
using In = const Record&;
using Argument = const std::string&;

void unknown(Out out, In, Argument) { out += '-'; }
void seconds(Out out, In record, Argument) { append_decimal(out, millis(record) / 1000); }
void subsecond(Out out, In record, Argument) { append_decimal(out, millis(record) % 1000); }
void local_time(Out out, In record, Argument a) { append_time(out, record, a, &::localtime_r); }
void gmt_time(Out out, In record, Argument a) { append_time(out, record, a, &::gmtime_r); }
void duration(Out out, In record, Argument) { append_decimal(out, record.duration_ms.value_or(0)); }
void client(Out out, In record, Argument) { append_word(out, address_of(record.src)); }
void client_port(Out out, In record, Argument) { append_word(out, port_of(record.src)); }
void origin(Out out, In record, Argument) { append_word(out, address_of(record.origin)); }
void origin_port(Out out, In record, Argument) { append_word(out, port_of(record.origin)); }
void agent(Out out, In record, Argument) { append_word(out, record.agent); }
void method(Out out, In record, Argument) {
  append_word(out, record.method.empty() ? "NONE" : record.method);
}
void url(Out out, In record, Argument) { append_target(out, record); }
void scheme(Out out, In record, Argument) { append_word(out, record.scheme); }
void host(Out out, In record, Argument) { append_word(out, record.host); }
void port(Out out, In record, Argument) {
  if (record.port == 0) out += '-';
  if (record.port != 0) append_decimal(out, record.port);
}
void path(Out out, In record, Argument) { append_word(out, record.path); }
void http_version(Out out, In, Argument) { out += "1.1"; }
void status(Out out, In record, Argument) {
  append_decimal(out, static_cast<std::uint64_t>(status_of(record)));
}
void content_type(Out out, In record, Argument) { out += content_type_of(record); }
void tag(Out out, In record, Argument) { append_tag(out, record); }
void hierarchy(Out out, In record, Argument) { out += hierarchy_of(record); }
void bytes_down(Out out, In record, Argument) {
  append_decimal(out, record.bytes_down.value_or(0));
}
void bytes_up(Out out, In record, Argument) { append_decimal(out, record.bytes_up.value_or(0)); }
void bytes_both(Out out, In record, Argument) {
  append_decimal(out, record.bytes_up.value_or(0) + record.bytes_down.value_or(0));
}
void percent(Out out, In, Argument) { out += '%'; }
void server_name(Out out, In record, Argument) { append_word(out, record.sni); }

}  // namespace

const LogFormat::Code* LogFormat::find(std::string_view text) {
  static constexpr Code codes[] = {
      {">handshake", unknown},
      {"err_detail", unknown},
      {"err_code", unknown},
      {"ssl::>sni", server_name},
      {">Hs", status},
      {"<Hs", status},
      {">eui", unknown},
      {">la", unknown},
      {">lp", unknown},
      {"<la", unknown},
      {"<lp", unknown},
      {">rm", method},
      {"<rm", method},
      {">ru", url},
      {"<ru", url},
      {">rs", scheme},
      {"<rs", scheme},
      {">rd", host},
      {"<rd", host},
      {">rP", port},
      {"<rP", port},
      {">rp", path},
      {"<rp", path},
      {">rv", http_version},
      {"<rv", http_version},
      {">ha", unknown},
      {">st", bytes_up},
      {"<st", bytes_down},
      {"<tt", unknown},
      {"<pt", unknown},
      {"note", unknown},
      {">a", client},
      {">A", client},
      {">p", client_port},
      {"<a", origin},
      {"<A", host},
      {"<p", origin_port},
      {">h", unknown},
      {"<h", unknown},
      {"la", unknown},
      {"lp", unknown},
      {"ts", seconds},
      {"tu", subsecond},
      {"tl", local_time},
      {"tg", gmt_time},
      {"tr", duration},
      {"dt", unknown},
      {"un", agent},
      {"ul", unknown},
      {"ui", unknown},
      {"ue", unknown},
      {"us", unknown},
      {"et", unknown},
      {"ea", unknown},
      {"rm", method},
      {"ru", url},
      {"rp", path},
      {"rv", http_version},
      {"Hs", status},
      {"mt", content_type},
      {"st", bytes_both},
      {"Ss", tag},
      {"Sh", hierarchy},
      {"%", percent},
  };
  const Code* best = nullptr;  // the longest name: `>rP` is not `>r` and a P
  for (const Code& code : codes) {
    if (text.starts_with(code.name) && (best == nullptr || code.name.size() > best->name.size())) {
      best = &code;
    }
  }
  return best;
}

// % [encoding] [-] [[0]width] [{argument}] code [{argument}]; `at` is after the percent sign.
Result<std::size_t> LogFormat::compile_code(std::string_view text, std::size_t at,
                                            LogFormat& format) {
  const std::size_t begin = at;
  const auto here = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != any.npos;
  };
  const auto take_argument = [&](std::string& argument) {
    if (!here("{")) return;
    const std::size_t end = std::min(text.find('}', at), text.size());
    argument = text.substr(at + 1, end - at - 1);
    at = std::min(end + 1, text.size());
  };
  Piece piece;
  if (here("\"[#/'")) ++at;  // agents' text is always escaped in the same way
  if (here("-")) {
    piece.is_left = true;
    ++at;
  }
  if (here("0")) piece.fill = '0';
  while (here("0123456789")) {
    piece.width =
        std::min(piece.width * 10 + static_cast<std::size_t>(text[at++] - '0'), max_width);
  }
  if (here(".")) {  // a maximum: ignored, fields have their own limit
    ++at;
    while (here("0123456789")) ++at;
  }
  take_argument(piece.text);
  if (text.substr(at).starts_with("http::")) at += 6;
  const Code* code = find(text.substr(at));
  if (code == nullptr) {
    return Error{"there is no format code %" + std::string{text.substr(begin, 12)}};
  }
  piece.write = code->write;
  at += code->name.size();
  take_argument(piece.text);
  format.pieces_.push_back(std::move(piece));
  return at;
}

Result<LogFormat> LogFormat::compile(std::string_view text) {
  LogFormat format;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t percent_at = std::min(text.find('%', at), text.size());
    if (percent_at > at) {
      Piece literal;
      literal.text = text.substr(at, percent_at - at);
      format.pieces_.push_back(std::move(literal));
    }
    if (percent_at == text.size()) break;
    const auto end = compile_code(text, percent_at + 1, format);
    if (!end) return end.error();
    at = *end;
  }
  return format;
}

void LogFormat::append(std::string& out, const Record& record) const {
  if (record.event != Event::close && record.event != Event::deny) return;
  std::string field;
  for (const Piece& piece : pieces_) {
    if (piece.write == nullptr) {
      out += piece.text;
      continue;
    }
    field.clear();
    piece.write(field, record, piece.text);
    const std::size_t missing = piece.width > field.size() ? piece.width - field.size() : 0;
    if (!piece.is_left) out.append(missing, piece.fill);
    out += field;
    if (piece.is_left) out.append(missing, ' ');
  }
  out += '\n';
}

}  // namespace stile::audit
