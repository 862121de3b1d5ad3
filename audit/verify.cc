// verify: feeds files to ChainCheck and reports the result.
#include "audit/verify.h"

#include <map>
#include <ostream>

#include "audit/chain_check.h"
#include "audit/line_source.h"
#include "audit/record.h"
#include "audit/text.h"

namespace stile::audit {
namespace {

constexpr std::size_t listed_open_ends = 20;

struct OpenEnd {
  LinePlace place;
  std::string what;
};

// Connections that were opened and not closed. Each process restarts their numbers, so a `start`
// turns all open connections into unclosed ones.
class OpenEnds {
 public:
  void add(const LinePlace& place, const Line& line) {
    const std::string_view event = line.raw(Key::event);
    if (event == "open") {
      std::string what{line.raw(Key::agent)};
      what.append(" ").append(line.raw(Key::host)).append(":").append(line.raw(Key::port));
      open_.emplace(line.number(Key::conn), OpenEnd{place, std::move(what)});
    } else if (event == "close") {
      if (const auto found = open_.find(line.number(Key::conn)); found != open_.end()) {
        open_.erase(found);
      }
    } else if (event == "start" && line.raw(Key::detail) != taken_over) {
      end_all();
    }
  }

  void end_all() {
    count_ += open_.size();
    for (auto& [conn, end] : open_) {
      if (listed_.size() < listed_open_ends) listed_.push_back(std::move(end));
    }
    open_.clear();
  }

  void tell(std::ostream& out) const {
    for (const OpenEnd& end : listed_) {
      out << end.place.text() << ": unclosed connection: " << end.what << '\n';
    }
    if (count_ > listed_.size())
      out << "… and " << counted(count_ - listed_.size(), "more unclosed connection") << '\n';
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::multimap<std::uint64_t, OpenEnd> open_;
  std::vector<OpenEnd> listed_;
  std::size_t count_ = 0;
};

void tell_gap(std::ostream& out, const LinePlace& place, const Line& line) {
  out << place.text() << ": gap:";
  if (!line.raw(Key::torn).empty()) out << " a torn line before it";
  if (const std::uint64_t count = line.number(Key::count); count > 0) {
    const bool is_refused = line.raw(Key::verdict) == "deny";
    out << (line.raw(Key::torn).empty() ? " " : "; ") << counted(count, "record")
        << (is_refused ? " of refused requests" : "") << (count == 1 ? " is" : " are")
        << " missing";
  }
  out << '\n';
}

class Verification {
 public:
  Verification(const VerifyOptions& options, std::ostream& out, std::ostream& err)
      : options_{options}, out_{out}, err_{err} {}

  // False if the file cannot be read or is damaged: call tell() next.
  bool add_file(const std::string& name) {
    auto source = LineSource::open(name);
    if (!source) {
      unreadable_ = source.error().message;
      return false;
    }
    ++files_;
    Line line;
    while (source->next()) {
      const LinePlace place{name, source->number()};
      is_ended_ = source->has_newline();
      if (check_.add(place, source->line(), line)) {
        add_line(place, line);
      } else if (check_.violation()) {
        return false;
      }
    }
    unreadable_ = source->error();
    return unreadable_.empty();
  }

  int tell() {
    if (!unreadable_.empty()) {
      err_ << "cannot read " << unreadable_ << '\n';
      return 1;
    }
    check_.finish(is_ended_);
    if (const auto& violation = check_.violation()) {
      err_ << violation->place.text() << ": " << violation->why << '\n';
      return 1;
    }
    if (!options_.head.empty() && !has_seen_head_) {
      err_ << "no line has the hash " << options_.head
           << ": the end of the log is missing, or the log was rewritten\n";
      return 1;
    }
    tell_end();
    return 0;
  }

 private:
  void add_line(const LinePlace& place, const Line& line) {
    ++lines_;
    if (hash_text(check_.head().hash) == options_.head) has_seen_head_ = true;
    open_ends_.add(place, line);
    if (line.raw(Key::event) != "audit-gap") return;
    ++gaps_;
    tell_gap(out_, place, line);
  }

  void tell_end() {
    if (check_.first_seq() > 1) {
      out_ << "begins at seq " << check_.first_seq()
           << ": what came before is not in these files\n";
    }
    if (const auto& place = check_.torn_end()) {
      out_ << place->text() << ": the last line is torn; the next start will name it\n";
    }
    open_ends_.end_all();
    open_ends_.tell(out_);
    out_ << "OK: " << counted(lines_, "line") << " in " << counted(files_, "file")
         << ", chain intact, " << counted(gaps_, "gap") << ", "
         << counted(open_ends_.count(), "unclosed connection") << '\n'
         << "head: " << check_.head().seq << ' ' << hash_text(check_.head().hash) << '\n';
  }

  const VerifyOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  ChainCheck check_;
  OpenEnds open_ends_;
  std::uint64_t files_ = 0, lines_ = 0, gaps_ = 0;
  bool is_ended_ = true, has_seen_head_ = false;
  std::string unreadable_;
};

}  // namespace

int verify(const std::vector<std::string>& files, const VerifyOptions& options, std::ostream& out,
           std::ostream& err) {
  Verification verification{options, out, err};
  for (const std::string& name : files) {
    if (!verification.add_file(name)) break;
  }
  return verification.tell();
}

}  // namespace stile::audit
