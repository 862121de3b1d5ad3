// show: time, event, agent, destination, and reason.
#include "audit/show.h"

#include <ostream>

#include "audit/line_source.h"

namespace stile::audit {
namespace {

void append_padded(std::string& out, std::string_view word, std::size_t width) {
  out += word;
  out.append(word.size() < width ? width - word.size() : 0, ' ');
}

// " label value", if the key is set.
void append_field(std::string& out, const Line& line, Key key, std::string_view label) {
  if (line.raw(key).empty()) return;
  out.append(label).append(line.raw(key));
}

void append_target(std::string& out, const Line& line) {
  append_field(out, line, Key::method, " ");
  append_field(out, line, Key::host, " ");
  append_field(out, line, Key::port, ":");
  append_field(out, line, Key::path, "");
}

// A tunnel closed by the stop of the daemon was not refused.
bool is_refusal(const Line& line) noexcept {
  const auto verdict = line.raw(Key::verdict);
  if (line.raw(Key::event) == "close" && line.raw(Key::reason) == "draining") return false;
  return verdict == "deny" || verdict == "would-deny";
}

}  // namespace

bool matches(const Line& line, const ShowOptions& options) noexcept {
  if (!options.agent.empty() && line.raw(Key::agent) != options.agent) return false;
  // All time stamps are in UTC and have the same length.
  if (!options.since.empty() && line.raw(Key::ts) < options.since) return false;
  return !options.denied_only || is_refusal(line);
}

std::string describe(const Line& line) {
  std::string out{line.raw(Key::ts)};
  out += ' ';
  append_padded(out, line.raw(Key::event), 9);
  out += ' ';
  append_padded(out, line.raw(Key::agent).empty() ? "-" : line.raw(Key::agent), 12);
  const std::size_t columns_end = out.size();
  append_target(out, line);
  const std::string_view verdict = line.raw(Key::verdict);
  if (verdict != "allow" && verdict != line.raw(Key::event))
    append_field(out, line, Key::verdict, " ");
  append_field(out, line, Key::reason, " ");
  if (line.raw(Key::reason) == "unknown-agent") append_field(out, line, Key::src, " from ");
  append_field(out, line, Key::rule, " by ");
  append_field(out, line, Key::status, " status ");
  append_field(out, line, Key::origin, " to ");
  append_field(out, line, Key::sni, " sni ");
  append_field(out, line, Key::tls, " tls ");
  append_field(out, line, Key::secret, " secret ");
  append_field(out, line, Key::scan, " scan ");
  append_field(out, line, Key::request, " ask ");
  append_field(out, line, Key::bytes_up, " up ");
  append_field(out, line, Key::bytes_down, " down ");
  append_field(out, line, Key::duration_ms, " ms ");
  append_field(out, line, Key::stripped, " stripped ");
  append_field(out, line, Key::count, " count ");
  append_field(out, line, Key::policy, " policy ");
  append_field(out, line, Key::version, " version ");
  append_field(out, line, Key::config, " config ");
  append_field(out, line, Key::torn, " torn ");
  append_field(out, line, Key::actor, " actor ");
  append_field(out, line, Key::detail, " ");
  if (out.size() == columns_end) out.resize(out.find_last_not_of(' ') + 1);
  return out;
}

int read_lines(const std::vector<std::string>& files, const EachLine& each, std::ostream& err) {
  int status = 0;
  for (const std::string& name : files) {
    auto source = LineSource::open(name);
    if (!source) {
      err << "cannot read " << source.error().message << '\n';
      status = 1;
      continue;
    }
    Line line;
    while (source->next()) {
      const LineKind kind = read_line(source->line(), line);
      if (kind != LineKind::whole) {
        const bool is_torn = kind == LineKind::torn;  // `verify` checks whether it is accounted for
        err << name << ':' << source->number()
            << (is_torn ? ": is torn\n" : ": is not an audit line\n");
        if (!is_torn) status = 1;
      } else {
        each(line, source->line());
      }
    }
    if (!source->error().empty()) {
      err << "cannot read " << source->error() << '\n';
      status = 1;
    }
  }
  return status;
}

}  // namespace stile::audit
