// stile can: lists and shows the capabilities that an agent can be given.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/joined.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/table.h"
#include "cli/command_list.h"
#include "config/capability.h"

namespace stile::cli {
namespace {

struct CanOptions {
  std::vector<std::string> words;
  bool json = false;
};

std::string text_of(const std::vector<acl::PathPattern>& paths) {
  const auto text = joined_texts(
      paths, [](const acl::PathPattern& path) { return path.text(); }, " ");
  return text.empty() ? "any path" : text;
}

Json json_of(const config::RequestSettings& request) {
  auto paths = Json::list();
  for (const auto& path : request.paths) paths.add(path.text());
  Json json{{"host", request.host.pattern.text()}, {"methods", request.methods}, {"paths", paths}};
  if (!request.queries.empty()) json.set("query", Json{request.queries});
  if (!request.keep_headers.empty()) json.set("keep_headers", Json{request.keep_headers});
  if (request.plain_http) json.set("plain_http", Json{true});
  return json;
}

Json json_of(const config::Capability& capability) {
  return {{"name", capability.name},       {"usage", capability.usage()},
          {"about", capability.about},     {"cannot_prevent", capability.cannot},
          {"clients", capability.clients}, {"file", capability.place.file}};
}

// As they are with these parameters, or with samples in their place.
Result<std::vector<config::RequestSettings>> requests_of(const config::Capability& capability,
                                                         std::vector<std::string> words) {
  if (words.empty()) {
    for (const auto form : capability.parameters) words.emplace_back(config::facts_of(form).sample);
  }
  return config::expand(capability, words);
}

void print_secret(const config::Capability& capability,
                  const std::vector<config::RequestSettings>& requests) {
  const auto& advice = *capability.secret;
  const auto service = capability.name.substr(0, capability.name.find(':'));
  std::cout << "\nIts secret in stile.toml, listed by the agent as secrets = [\"" << service
            << "\"]:\n  [[secret]]\n  name = \"" << service << "\"\n  file = \"/etc/stile/secrets/"
            << service << "\"\n  hosts = [\"" << requests.front().host.pattern.text()
            << "\"]\n  header = \"" << advice.header << "\"\n";
  if (!advice.format.empty()) std::cout << "  format = \"" << advice.format << "\"\n";
  if (!advice.basic_user.empty()) std::cout << "  basic_user = \"" << advice.basic_user << "\"\n";
  if (!advice.agent_env.empty()) std::cout << "  agent_env = \"" << advice.agent_env << "\"\n";
}

void print(const config::Capability& capability,
           const std::vector<config::RequestSettings>& requests,
           const std::vector<std::string>& parameters) {
  std::cout << capability.usage() << ": " << printable(capability.about) << "\n\n";
  if (parameters.empty() && !capability.parameters.empty())
    std::cout << "With sample parameters:\n";
  Table table{{{"HOST"}, {"METHODS"}, {"PATHS"}}};
  for (const auto& request : requests) {
    auto paths = text_of(request.paths);
    if (!request.queries.empty()) paths += " ?" + joined(request.queries, ",");
    auto host = request.host.pattern.text();
    if (request.plain_http) host += " (also http)";
    table.add({host, joined(request.methods, ","), paths});
  }
  table.print(std::cout, Terminal::of_output());
  std::cout << "\nIt cannot prevent:\n";
  for (const auto& one : capability.cannot) std::cout << "  - " << printable(one) << '\n';
  if (!capability.clients.empty()) std::cout << "\nClients:\n";
  for (const auto& one : capability.clients) std::cout << "  - " << printable(one) << '\n';
  if (capability.secret) print_secret(capability, requests);
  std::string entry = parameters.empty() ? capability.usage() : capability.name;
  for (const auto& parameter : parameters) entry += ' ' + parameter;
  std::cout << "\nfile      " << printable(capability.place.file) << "\n  use it: can = [\""
            << entry << "\"] in [[agent]], or stile run --can \"" << entry << "\" -- COMMAND\n";
}

int list_all(const config::Capabilities& capabilities, bool is_json) {
  Table table{{{"CAPABILITY"}, {"ABOUT", Fit::cut_end}}};
  auto list = Json::list();
  for (const auto& [name, capability] : capabilities.all()) {
    table.add({capability.usage(), capability.about});
    list.add(json_of(capability));
  }
  if (is_json) {
    std::cout << Json{{"capabilities", list}}.dump() << '\n';
  } else if (table.is_empty()) {
    std::cerr
        << "stile: there are no capabilities in " << joined(Json{config::capability_directories()})
        << "\n  note: name their directory in STILE_CAPABILITIES (in the sources: capabilities)\n";
    return failed;
  } else {
    table.print(std::cout, Terminal::of_output());
  }
  return fine;
}

int show_one(const config::Capabilities& capabilities, const CanOptions& options) {
  auto words = options.words;
  const std::string name = words.front();
  words.erase(words.begin());
  const auto* capability = capabilities.find(name);
  if (capability == nullptr) {
    std::cerr << "stile: " << capabilities.expand(name).error().message << "\n  next: stile can\n";
    return failed;
  }
  const auto requests = requests_of(*capability, words);
  if (!requests) {
    std::cerr << "stile: " << requests.error().message << '\n';
    return failed;
  }
  if (options.json) {
    auto list = Json::list();
    for (const auto& request : *requests) list.add(json_of(request));
    auto json = json_of(*capability);
    json.set("requests", list);
    std::cout << json.dump() << '\n';
  } else {
    print(*capability, *requests, words);
  }
  return fine;
}

int run_can(const CanOptions& options) {
  const auto capabilities =
      config::Capabilities::load(config::capability_directories(), ::geteuid());
  if (!capabilities) {
    std::cerr << capabilities.error().text();
    return failed;
  }
  if (options.words.empty()) return list_all(*capabilities, options.json);
  return show_one(*capabilities, options);
}

}  // namespace

void add_can(Command& stile) {
  auto options = std::make_shared<CanOptions>();
  auto command =
      stile.add("can", "list capabilities: named sets of requests that an agent can be given");
  command.words("NAME", options->words,
                "show this one, with its parameters if you give them (default: list all)");
  command.flag("--json", options->json, "print JSON, for scripts");
  command.examples(
      "Examples:\n  stile can\n  stile can github:read\n  stile can git:fetch github.com/acme/app");
  command.does([options] { return run_can(*options); });
}

}  // namespace stile::cli
