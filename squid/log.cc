// Parser: `access_log` and `logformat`.
#include "audit/log_format.h"
#include "squid/parser.h"

namespace stile::squid {
namespace {

// Options of a log that change how squid writes it, not what it writes.
bool is_writing_option(std::string_view word) {
  return word.starts_with("buffer-size=") || word.starts_with("rotate=") ||
         word.starts_with("on-error=");
}

}  // namespace

void Parser::logformat(const Directive& line) {
  const std::size_t blank = line.rest.find_first_of(" \t");
  if (blank == line.rest.npos) return error(line, "is written as: logformat NAME FORMAT");
  const std::string name = line.rest.substr(0, blank);
  const std::string format = line.rest.substr(line.rest.find_first_not_of(" \t", blank));
  if (name == "squid" || name == "common" || name == "combined") {
    return error(line, name + " is built in and cannot be redefined");
  }
  if (const auto compiled = audit::LogFormat::compile(format); !compiled) {
    return error(line, compiled.error().message);
  }
  log_formats_[name] = format;
}

// Only stores the line: the format that it names may be defined later.
void Parser::access_log(const Directive& line) {
  if (line.words.empty()) return error(line, "names no log");
  if (access_log_) return error(line, "there can be one access_log only");
  access_log_ = line;
}

void Parser::open_access_log(const Directive& line) {
  std::string place = line.words[0];
  std::string format = "squid";
  bool has_format = false;
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const std::string& word = line.words[i];
    if (word.starts_with("logformat=")) {
      format = word.substr(word.find('=') + 1);
      has_format = true;
    } else if (is_writing_option(word)) {
      note("access_log " + word + " has no effect here");
    } else if (word != "all" && place != "none" && !has_format) {
      format = word;
      has_format = true;
    } else if (word != "all") {
      return error(line, "acls are not supported here: all requests are logged");
    }
  }
  if (place == "none") {
    conf_.log_style = LogStyle::none;
    return;
  }
  for (const std::string_view module : {"stdio:", "daemon:"}) {
    if (place.starts_with(module)) {
      place.erase(0, module.size());
      break;
    }
  }
  if (!place.starts_with('/')) {
    return error(line, "is written as stdio:/path, daemon:/path or none");
  }
  conf_.log_path = place;
  if (format == "squid" || format == "common" || format == "combined") {
    conf_.log_style = format == "squid"    ? LogStyle::squid
                      : format == "common" ? LogStyle::common
                                           : LogStyle::combined;
  } else if (const auto found = log_formats_.find(format); found != log_formats_.end()) {
    conf_.log_style = LogStyle::custom;
    conf_.log_format = found->second;
  } else {
    error(line, "there is no logformat " + format);
  }
}

}  // namespace stile::squid
