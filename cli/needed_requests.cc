// needed_requests: the capabilities and request entries that cover requests inside opened tunnels.
#include "cli/needed_requests.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "audit/text.h"
#include "base/quoted.h"
#include "config/capability_parameter.h"

namespace stile::cli {
namespace {

using config::ParameterForm;
using Requests = std::vector<config::RequestSettings>;

// An agent chooses its paths: what is tried for them is bounded.
constexpr std::size_t most_candidates = 2000;
constexpr std::size_t most_paths = 8;  // of one entry, before they are joined to a prefix
constexpr std::size_t longest_path = 512;

bool covers(const config::RequestSettings& rule, const NeededRequest& request) {
  const acl::Pattern& host = rule.host.pattern;
  if (!acl::covers_names(host.kind, host.name, acl::Pattern::Kind::exact, request.host))
    return false;
  if (host.reach != acl::Pattern::Reach::bare && host.port != request.port) return false;
  const auto& methods = rule.methods;
  const bool has_method = std::any_of(methods.begin(), methods.end(), [&](const std::string& one) {
    return one == "*" || one == request.method;
  });
  const auto matches = [&](const acl::PathPattern& one) { return one.matches(request.path); };
  // The log has no queries.
  return has_method &&
         (rule.paths.empty() || std::any_of(rule.paths.begin(), rule.paths.end(), matches));
}

bool covers(const Requests& rules, const NeededRequest& request) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const config::RequestSettings& rule) { return covers(rule, request); });
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (const auto part : config::split_words(path.substr(0, longest_path), '/')) {
    if (!part.empty()) segments.emplace_back(part);
  }
  return segments;
}

// What comes before the names that git gives to its requests.
std::string git_location(const NeededRequest& request) {
  for (const std::string_view end : {"/info/refs", "/git-upload-pack", "/git-receive-pack"}) {
    if (!request.path.ends_with(end)) continue;
    std::string path = request.path.substr(0, request.path.size() - end.size());
    if (path.ends_with(".git")) path.resize(path.size() - 4);
    return request.host + (request.port == 443 ? "" : ':' + std::to_string(request.port)) + path;
  }
  return {};
}

// The parameters that this request may have had.
void add_parameters(ParameterForm form, const NeededRequest& request,
                    std::set<std::string>& found) {
  if (form == ParameterForm::location) {
    const std::string location = git_location(request);
    if (!location.empty()) found.insert(location);
    return;
  }
  const auto segments = segments_of(request.path);
  const bool has_pairs = form != ParameterForm::name;
  const bool has_words = form == ParameterForm::name || form == ParameterForm::model;
  for (std::size_t i = 0; i < segments.size() && i < 5; ++i) {
    if (found.size() >= most_candidates) return;
    if (has_words) found.insert(segments[i]);
    if (has_pairs && i + 1 < segments.size()) found.insert(segments[i] + '/' + segments[i + 1]);
  }
}

// One that no agent has asked for.
std::string_view unlikely_parameter(ParameterForm form) {
  switch (form) {
    case ParameterForm::location:
      return "stile-none.invalid/stile-none/stile-none";
    case ParameterForm::name:
      return "stile-none";
    default:
      return "stile-none/stile-none";
  }
}

struct Candidate {
  std::string text;
  std::vector<std::size_t> covered;  // indexes of the requests
};

class Chooser {
 public:
  explicit Chooser(const std::vector<NeededRequest>& needed)
      : needed_{needed}, is_covered_(needed.size(), false) {}

  void gather(const config::Capabilities& known) {
    for (const auto& [name, capability] : known.all()) {
      const auto& forms = capability.parameters;
      if (forms.empty()) {
        add(known, name, {});
      } else if (forms.size() == 1 && forms[0] != ParameterForm::refs) {
        const auto other = known.expand(name + ' ' + std::string{unlikely_parameter(forms[0])});
        std::set<std::string> parameters;
        for (const auto& request : needed_) add_parameters(forms[0], request, parameters);
        for (const auto& parameter : parameters) {
          add(known, name + ' ' + parameter, other ? *other : Requests{});
        }
      }
    }
  }

  void choose(SuggestedRequests& into) {
    for (;;) {
      const Candidate* best = nullptr;
      std::size_t most = 0;
      for (const auto& candidate : candidates_) {
        const auto count = static_cast<std::size_t>(
            std::count_if(candidate.covered.begin(), candidate.covered.end(),
                          [this](std::size_t i) { return !is_covered_[i]; }));
        if (count > most) {
          most = count;
          best = &candidate;
        }
      }
      if (best == nullptr) break;
      SuggestedCapability one{best->text, 0, 0};
      for (const std::size_t i : best->covered) {
        if (is_covered_[i]) continue;
        one.let_through += needed_[i].let_through;
        one.refused += needed_[i].refused;
        is_covered_[i] = true;
      }
      into.can.push_back(std::move(one));
    }
    std::sort(into.can.begin(), into.can.end(),
              [](const auto& a, const auto& b) { return a.text < b.text; });
  }

  [[nodiscard]] bool is_covered(std::size_t i) const { return is_covered_[i]; }

 private:
  // `other`: what the capability allows with another parameter. If nothing that needs the parameter
  // was used, the parameter is a guess.
  void add(const config::Capabilities& known, const std::string& text, const Requests& other) {
    if (candidates_.size() >= most_candidates) return;
    const auto rules = known.expand(text);
    if (!rules) return;
    Candidate candidate{text, {}};
    bool needs_parameter = other.empty();
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      if (!covers(*rules, needed_[i])) continue;
      candidate.covered.push_back(i);
      needs_parameter = needs_parameter || !covers(other, needed_[i]);
    }
    if (needs_parameter && !candidate.covered.empty()) candidates_.push_back(std::move(candidate));
  }

  const std::vector<NeededRequest>& needed_;
  std::vector<bool> is_covered_;
  std::vector<Candidate> candidates_;
};

bool is_method(std::string_view text) {
  return !text.empty() && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// "/a/b/c" with two segments: "/a/b/**".
std::string prefix_of(const std::string& path, std::size_t segments) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    at = path.find('/', at + 1);
    if (at == std::string::npos) return path;
  }
  return path.substr(0, at) + "/**";
}

// Few paths as they are, many by what they begin with; empty: any.
std::vector<std::string> join_paths(const std::set<std::string>& paths) {
  if (paths.size() <= most_paths) return {paths.begin(), paths.end()};
  for (const std::size_t segments : {3U, 2U, 1U}) {
    std::set<std::string> joined;
    for (const auto& path : paths) joined.insert(prefix_of(path, segments));
    if (joined.size() <= most_paths) return {joined.begin(), joined.end()};
  }
  return {};
}

void add_entries(const std::vector<NeededRequest>& needed, const Chooser& chooser,
                 SuggestedRequests& into) {
  struct Group {
    std::set<std::string> methods, paths;
    std::uint64_t let_through = 0, refused = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;  // by host and kind of method
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const NeededRequest& request = needed[i];
    if (chooser.is_covered(i)) continue;
    const auto pattern = acl::PathPattern::parse(request.path);
    const bool is_literal = pattern && request.path.find('*') == std::string::npos &&
                            request.path.size() <= longest_path && is_method(request.method);
    const std::string words =
        printable(request.method) + " https://" + request.host + printable(request.path);
    if (request.path.ends_with("/git-receive-pack")) {
      into.remarks.push_back(words + ": a push; write can = [\"git:push " + git_location(request) +
                             " REF\"] with the refs that may be pushed");
      continue;
    }
    if (!is_literal) {
      into.remarks.push_back(words + ", " +
                             audit::counted(request.let_through + request.refused, "time") +
                             ": no entry can name exactly this request");
      continue;
    }
    const bool is_reading = request.method == "GET" || request.method == "HEAD";
    Group& group = groups[{request.host, is_reading ? "" : request.method}];
    group.methods.insert(request.method);
    if (is_reading) group.methods.insert({"GET", "HEAD"});
    group.paths.insert(request.path);
    group.let_through += request.let_through;
    group.refused += request.refused;
  }
  for (const auto& [key, group] : groups) {
    into.requests.push_back({key.first,
                             {group.methods.begin(), group.methods.end()},
                             join_paths(group.paths),
                             group.let_through,
                             group.refused});
  }
}

}  // namespace

SuggestedRequests cover_requests(const std::vector<NeededRequest>& needed,
                                 const config::Capabilities* known) {
  SuggestedRequests suggested;
  Chooser chooser{needed};
  if (known != nullptr) {
    chooser.gather(*known);
    chooser.choose(suggested);
  }
  add_entries(needed, chooser, suggested);
  return suggested;
}

}  // namespace stile::cli
