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
  using Handler = void (Parser::*)(const Directive&);
  static const std::unordered_map<std::string_view, Handler>& handlers();

  void take(const Directive& line);
  void pass_over(const Directive& line);
  void take_option(const Option& option);
  void finish();

  // acl.cc
  void add_built_in_acls();
  void acl(const Directive& line);
  void http_access(const Directive& line);
  [[nodiscard]] Acl* acl_of(const Directive& line);
  void add_values(Acl& acl, const Directive& line);
  void add_file(Acl& acl, const Directive& line, std::string_view quoted, bool ignore_case);
  void add_value(Acl& acl, const std::string& value, const config::Place& place, bool ignore_case);

  // log.cc
  void access_log(const Directive& line);
  void open_access_log(const Directive& line);
  void logformat(const Directive& line);

  // The rest.
  void http_port(const Directive& line);
  void request_header_access(const Directive& line);
  void strip_query_terms(const Directive& line);
  void dns_nameservers(const Directive& line);
  void hosts_file(const Directive& line);
  void pid_filename(const Directive& line);
  void visible_hostname(const Directive& line);
  void cache_effective_user(const Directive& line);
  void cache_effective_group(const Directive& line);
  void cache_log(const Directive& line);
  void forwarded_for(const Directive& line);
  void via(const Directive& line);
  void connect_timeout(const Directive& line);
  void shutdown_lifetime(const Directive& line);

  // Error reports and small readers; a reader that reports an error returns nothing.
  void error(const Directive& line, const std::string& problem, std::string hint = {});
  void note(std::string text);
  [[nodiscard]] const std::string* one_word(const Directive& line);
  [[nodiscard]] std::optional<bool> on_off(const Directive& line);
  [[nodiscard]] std::optional<std::chrono::milliseconds> time(const Directive& line);
  [[nodiscard]] Acl* find_acl(std::string_view name);

  const Files& files_;
  bool is_in_list_ = false;  // values come from a list file
  Conf conf_;
  config::Diagnostics problems_;
  std::unordered_map<std::string, std::size_t> acl_index_;
  std::unordered_set<std::string> noted_;
  std::map<std::string, bool> header_rules_;  // lower-case name: denied
  std::map<std::string, std::string> log_formats_;
  std::optional<Directive> access_log_;  // read at the end: its format may be defined later
};

}  // namespace stile::squid
