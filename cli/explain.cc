// stile explain: what would become of a request, step by step, and why.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "acl/address.h"
#include "acl/host.h"
#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/control_command.h"
#include "cli/table.h"

namespace stile::cli {
namespace {

struct ExplainOptions {
  ControlOptions control;
  std::string agent, target, method;
  bool resolve = false;
};

// What the target names; only for advice. The daemon judges the target as it was written.
struct Target {
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string host;
  std::uint16_t port = 443;
};

Target read_target(std::string_view text) {
  Target target;
  if (const auto mark = text.find("://"); mark != std::string_view::npos) {
    if (text.starts_with("http:")) target = {acl::Scheme::http, {}, 80};
    text.remove_prefix(mark + 3);
  }
  const auto authority = acl::split_authority(text.substr(0, text.find_first_of("/?#")));
  target.host = std::string{authority.host};
  if (authority.has_port) target.port = acl::parse_port(authority.port).value_or(0);
  return target;
}

Json request_of(const ExplainOptions& options) {
  Json request{{"action", "explain"}};
  const bool is_address = acl::Address::parse(options.agent).has_value();
  request[is_address ? "source" : "agent"] = options.agent;
  if (options.target.find("://") != std::string::npos) {
    request["url"] = options.target;
  } else {  // as in CONNECT; the usual port need not be typed
    const auto authority = acl::split_authority(options.target);
    request["host"] = std::string{authority.host};
    request["port"] = authority.has_port ? std::string{authority.port} : "443";
  }
  if (!options.method.empty()) request["method"] = options.method;
  if (options.resolve) request["resolve"] = true;
  return request;
}

Colour colour_of(const std::string& result) {
  if (result == "pass" || result == "allow") return Colour::green;
  if (result == "not-run") return Colour::dim;
  return result.starts_with("would-deny") ? Colour::yellow : Colour::red;
}

void print(const ExplainOptions& options, const Json& answer, const Terminal& terminal) {
  const auto verdict = text_of(answer, "verdict");
  const auto reason = text_of(answer, "reason");
  const bool is_plain = reason.empty() || reason == "none";
  const Cell headline{verdict + (is_plain ? "" : ' ' + reason)};
  std::cout << terminal.coloured(headline.text, colour_of(verdict)) << "  "
            << Cell{options.agent + ' ' + options.target}.text << '\n';
  Table steps{{{"STEP", {}, {}, 0},
               {"", {}, {}, 0},
               {"RESULT", {}, {}, 0},
               {"WHAT WAS LOOKED AT", {}, {}, 0}}};
  std::size_t number = 0;
  for (const Json& step : list_of(answer, "steps")) {
    const auto result = text_of(step, "result");
    const auto given = text_of(step, "number");
    steps.add({given.empty() ? std::to_string(++number) : given,
               text_of(step, "step"),
               {result, colour_of(result)},
               text_of(step, "detail")});
  }
  steps.print(std::cout, {terminal.has_colour, 0});  // an explanation is wrapped, not cut
  if (const auto message = text_of(answer, "message"); !message.empty()) {
    std::cout << Cell{message}.text << '\n';
  }
  const auto target = read_target(options.target);
  const bool is_address = acl::Address::parse(options.agent).has_value();
  const auto advice = verdict == "allow" ? ""
                                         : advice_after({reason, is_address ? "" : options.agent,
                                                         target.scheme, target.host, target.port});
  if (!advice.empty()) std::cout << "next: " << advice << '\n';
}

int run_explain(const ExplainOptions& options) {
  auto client = connect(options.control, Access::look);
  if (!client) return report(client.error(), options.control);
  const auto answer = send_request(*client, request_of(options));
  if (!answer) return report(answer.error(), options.control);
  if (options.control.json) {
    std::cout << dump(answer->json) << '\n';
  } else {
    print(options, answer->json, Terminal::of_output());
  }
  return text_of(answer->json, "verdict") == "deny" ? failed : fine;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = app.add_subcommand("explain", "what would become of a request, and why");
  command->add_option("AGENT", options->agent, "an agent's id, or a source address")->required();
  command->add_option("URL", options->target, "https://…, http://…, or HOST[:PORT] for a tunnel")
      ->required();
  command->add_option("--method", options->method, "of a plain HTTP request (default: GET)");
  command->add_flag("--resolve", options->resolve, "look the name up, and judge its addresses too");
  add_control_options(*command, options->control);
  command->footer(
      "Examples:\n"
      "  stile explain alpha https://example.com/\n"
      "  stile explain alpha github.com:22 --resolve\n"
      "  stile explain 10.200.0.2 http://packages.example.net/\n"
      "Exit status: 0 if it is let through (in mode observe too), 1 if it is refused. Nothing is\n"
      "sent and nothing is counted.");
  command->callback([options, &action] { action = [options] { return run_explain(*options); }; });
}

}  // namespace stile::cli
