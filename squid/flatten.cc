// flatten: turns an ordered list of rules into lists of allowed and denied names.
#include "squid/flatten.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "squid/parser.h"

namespace stile::squid {
namespace {

enum class Known : std::uint8_t { yes, no, depends_on_host, no_form };

// Applies the rules to one group of sources and one way.
class Flattener {
 public:
  Flattener(const Conf& conf, const SourceGroup& group, config::Diagnostics& problems)
      : conf_{conf}, group_{group}, problems_{problems} {}

  Lists run(acl::Scheme scheme, std::uint16_t port) {
    scheme_ = scheme;
    port_ = port;
    lists_ = {};
    denied_later_.clear();
    only_.clear();
    lines_.clear();
    for (const AccessLine& line : conf_.access) {
      if (!take(line)) return lists_;
    }
    if (!conf_.access.empty() && !conf_.access.back().allows) allow_rest(conf_.access.back());
    return lists_;
  }

  // The rules behind the lists of the last run.
  [[nodiscard]] const std::vector<const AccessLine*>& lines() const noexcept { return lines_; }

 private:
  [[nodiscard]] Known ask(const std::string& name) const;
  bool take(const AccessLine& line);
  void deny(const AccessLine& line, const AccessLine::Term& host);
  void allow(const AccessLine& line, const AccessLine::Term& host);
  void allow_rest(const AccessLine& line);
  void refuse(const AccessLine& line, const std::string& why) {
    problems_.error(line.place, line.text, why);
  }

  const Conf& conf_;
  const SourceGroup& group_;
  config::Diagnostics& problems_;
  acl::Scheme scheme_ = acl::Scheme::tunnel;
  std::uint16_t port_ = 0;
  Lists lists_;
  std::vector<std::string> denied_later_;  // by a rule after one that allows
  std::vector<const AccessLine*> lines_;   // that allow something
  std::string only_;                       // after `deny !only`: all other names are refused
};

Known Flattener::ask(const std::string& name) const {
  const Acl& acl = *conf_.find(name);
  const auto known = [](bool holds) { return holds ? Known::yes : Known::no; };
  if (acl.type == "src") return known(group_.is_in(name));
  if (acl.type == "port") {
    return known(std::any_of(acl.ports.begin(), acl.ports.end(), [&](const auto& range) {
      return port_ >= range.first && port_ <= range.second;
    }));
  }
  if (acl.type == "method") {
    const bool has_connect =
        std::any_of(acl.methods.begin(), acl.methods.end(),
                    [](const auto& method) { return lower_case(method) == "connect"; });
    if (scheme_ == acl::Scheme::tunnel) return known(has_connect);
    const bool has_others = acl.methods.size() > (has_connect ? 1U : 0U);
    return has_others ? Known::no_form : Known::no;
  }
  if (acl.type == "dstdomain" || acl.type == "dstdom_regex") return Known::depends_on_host;
  // squid's own pages do not exist, and loopback and link-local addresses are never dialled.
  if (name == "manager" || name == "to_localhost" || name == "to_linklocal") return Known::no;
  return Known::no_form;
}

// False: the rules after this one are never reached.
bool Flattener::take(const AccessLine& line) {
  std::vector<AccessLine::Term> hosts;
  const AccessLine::Term* formless = nullptr;
  for (const auto& term : line.terms) {
    const Known known = ask(term.acl);
    if (known == (term.is_negated ? Known::yes : Known::no)) return true;  // does not hold
    if (known == Known::depends_on_host) hosts.push_back(term);
    if (known == Known::no_form) formless = &term;
  }
  if (formless != nullptr) {
    refuse(line, "stile.toml has nothing like acl " + formless->acl + " of type " +
                     conf_.find(formless->acl)->type);
    return true;
  }
  if (hosts.empty()) {
    if (line.allows) allow_rest(line);
    return false;
  }
  if (hosts.size() > 1) {
    refuse(line, "stile.toml cannot say that a name is in two lists at once");
  } else if (line.allows) {
    allow(line, hosts.front());
  } else {
    deny(line, hosts.front());
  }
  return true;
}

void Flattener::deny(const AccessLine& line, const AccessLine::Term& host) {
  if (!host.is_negated) {
    (lists_.is_empty() ? lists_.deny : denied_later_).push_back(host.acl);
  } else if (only_.empty()) {
    only_ = host.acl;
  } else {
    refuse(line, "is the second rule that refuses all names but those of a list");
  }
}

void Flattener::allow(const AccessLine& line, const AccessLine::Term& host) {
  if (!denied_later_.empty() || !only_.empty() || lists_.allows_all) {
    refuse(line, "allows names behind a rule that denies others; in stile.toml deny always wins");
  } else if (!host.is_negated) {
    lines_.push_back(&line);
    lists_.allow.push_back(host.acl);
  } else if (lists_.allow.empty()) {
    lines_.push_back(&line);
    lists_.allows_all = true;
    lists_.deny.push_back(host.acl);
  } else {
    refuse(line, "allows all names but some behind a rule that may allow those");
  }
}

// Allows all names that no earlier rule has decided.
void Flattener::allow_rest(const AccessLine& line) {
  if (lists_.allows_all || (!denied_later_.empty() && !lists_.allow.empty())) {
    refuse(line,
           "allows what is left behind rules that allow and deny; deny always wins in stile.toml");
  } else if (!only_.empty()) {
    lines_.push_back(&line);
    lists_.allow.push_back(only_);
  } else {
    lines_.push_back(&line);
    lists_.allows_all = true;
    lists_.allow.clear();
  }
}

}  // namespace

std::vector<Way> flatten(const Conf& conf, const SourceGroup& group,
                         config::Diagnostics& problems) {
  std::set<std::uint32_t> begins{1, 0x10000};
  for (const Acl& acl : conf.acls) {
    for (const auto& [first, last] : acl.ports) {
      begins.insert(std::max<std::uint32_t>(first, 1));
      begins.insert(last + 1U);
    }
  }
  Flattener flattener{conf, group, problems};
  std::vector<Way> ways;
  for (const acl::Scheme scheme : {acl::Scheme::tunnel, acl::Scheme::http}) {
    for (auto at = begins.begin(); std::next(at) != begins.end(); ++at) {
      const auto first = static_cast<std::uint16_t>(*at);
      const auto last = static_cast<std::uint16_t>(*std::next(at) - 1);
      const Lists lists = flattener.run(scheme, first);
      if (!lists.is_empty()) ways.push_back({scheme, first, last, lists, flattener.lines()});
    }
  }
  return ways;
}

}  // namespace stile::squid
