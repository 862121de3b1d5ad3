// Parser: the directives of a squid.conf, one function each.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "squid/conf.h"

namespace stile::squid {

class Parser {
 public:
  Parser(const std::string& file, const Files& files);
  [[nodiscard]] config::Checked<Conf> run();

 private:
  using Handler = void (Parser::*)(const Line&);
  static const std::unordered_map<std::string_view, Handler>& handlers();

  void take(const Line& line);
  void pass_over(const Line& line);
  void take_option(const Option& option);
  void finish();

  // acl.cc
  void add_built_in_acls();
  void acl(const Line& line);
  void http_access(const Line& line);
  [[nodiscard]] Acl* acl_of(const Line& line);
  void add_values(Acl& acl, const Line& line);
  void add_file(Acl& acl, const Line& line, std::string_view quoted, bool ignore_case);
  void add_value(Acl& acl, const std::string& value, const config::Place& place, bool ignore_case);

  // log.cc
  void access_log(const Line& line);
  void open_access_log(const Line& line);
  void logformat(const Line& line);

  // The rest.
  void http_port(const Line& line);
  void request_header_access(const Line& line);
  void strip_query_terms(const Line& line);
  void dns_nameservers(const Line& line);
  void hosts_file(const Line& line);
  void pid_filename(const Line& line);
  void visible_hostname(const Line& line);
  void cache_effective_user(const Line& line);
  void cache_effective_group(const Line& line);
  void cache_log(const Line& line);
  void forwarded_for(const Line& line);
  void via(const Line& line);
  void connect_timeout(const Line& line);
  void shutdown_lifetime(const Line& line);

  // Error reports and small readers; a reader that reports an error returns nothing.
  void error(const Line& line, const std::string& problem, std::string hint = {});
  void note(std::string text);
  [[nodiscard]] const std::string* one_word(const Line& line);
  [[nodiscard]] std::optional<bool> on_off(const Line& line);
  [[nodiscard]] std::optional<std::chrono::milliseconds> time(const Line& line);
  [[nodiscard]] Acl* find_acl(std::string_view name);

  const Files& files_;
  bool is_in_list_ = false;  // values come from a list file
  Conf conf_;
  config::Diagnostics problems_;
  std::unordered_map<std::string, std::size_t> acl_index_;
  std::unordered_set<std::string> noted_;
  std::map<std::string, bool> header_rules_;  // lower-case name: denied
  std::map<std::string, std::string> log_formats_;
  std::optional<Line> access_log_;  // read at the end: its format may be defined later
};

}  // namespace stile::squid
