// stile explain: shows how a request would be decided, step by step, and why.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "acl/address.h"
#include "acl/host.h"
#include "base/table.h"
#include "cli/advice.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/situation.h"

namespace stile::cli {
namespace {

struct ExplainOptions {
  ControlOptions control;
  std::string agent, target, method;
  std::vector<std::string> words;  // [METHOD] URL
  bool resolve = false;
};

// The parts of the target, only for advice. The daemon judges the target as it was typed.
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

Json request_to_explain(const ExplainOptions& options) {
  Json request{{"action", "explain"}};
  const bool is_address = acl::Address::parse(options.agent).has_value();
  request.set(is_address ? "source" : "agent", options.agent);
  if (options.target.find("://") != std::string::npos) {
    request.set("url", options.target);
  } else {  // as in CONNECT; the default port may be omitted
    const auto authority = acl::split_authority(options.target);
    request.set("host", std::string{authority.host});
    request.set("port", authority.has_port ? std::string{authority.port} : "443");
  }
  if (!options.method.empty()) request.set("method", options.method);
  if (options.resolve) request.set("resolve", true);
  return request;
}

// Empty: no agent.
std::string agent_of(const Json& answer) {
  const auto agent = text_of(answer, "agent");
  return agent == "-" ? std::string{} : agent;
}

// What the step that refused has looked at.
std::string detail_of(const Json& answer, const std::string& reason) {
  for (const Json& step : list_of(answer, "steps")) {
    if (text_of(step, "result") == reason) return text_of(step, "detail");
  }
  return {};
}

Colour colour_of_explain(const std::string& result) {
  if (result == "pass" || result == "allow") return Colour::green;
  if (result == "not-run") return Colour::dim;
  return result.starts_with("would-deny") ? Colour::yellow : Colour::red;
}

// No request was sent, so nothing was let through: a step that did not run may still refuse it.
std::string summary_of(const Json& answer) {
  const auto verdict = text_of(answer, "verdict");
  if (verdict == "would-deny") {
    return text_of(answer, "message") + " Mode observe lets it through all the same.";
  }
  if (verdict != "allow") return text_of(answer, "message");
  std::string open;
  for (const Json& step : list_of(answer, "steps")) {
    if (text_of(step, "result") != "not-run") continue;
    open += (open.empty() ? "" : ", ") + text_of(step, "step");
  }
  if (open.empty()) return "The policy allows it. Nothing was sent.";
  return "The policy allows it. Nothing was sent; not looked at: " + open + '.';
}

void print_explain(const ExplainOptions& options, const Json& answer, const Situation& situation,
                   const Terminal& terminal) {
  const auto verdict = text_of(answer, "verdict");
  const auto reason = text_of(answer, "reason");
  const bool is_plain = reason.empty() || reason == "none";
  const Cell headline{verdict + (is_plain ? "" : ' ' + reason)};
  std::cout << terminal.coloured(headline.text, colour_of_explain(verdict)) << "  "
            << Cell{options.agent + ' ' + (options.method.empty() ? "" : options.method + ' ') +
                    options.target}
                   .text
            << '\n';
  Table steps{{{"STEP"}, {""}, {"RESULT"}, {"WHAT WAS LOOKED AT"}}};
  std::size_t number = 0;
  for (const Json& step : list_of(answer, "steps")) {
    const auto result = text_of(step, "result");
    const auto given = text_of(step, "number");
    steps.add({given.empty() ? std::to_string(++number) : given,
               text_of(step, "step"),
               {result, colour_of_explain(result)},
               text_of(step, "detail")});
  }
  steps.print(std::cout, {terminal.has_colour, 0});  // an explanation is wrapped, not cut
  if (const auto message = summary_of(answer); !message.empty()) {
    std::cout << Cell{message}.text << '\n';
  }
  const auto target = read_target(options.target);
  const Refused refused{reason,
                        agent_of(answer),
                        target.scheme,
                        target.host,
                        target.port,
                        text_of(answer, "rule"),
                        detail_of(answer, reason),
                        {},
                        acl::Address::parse(options.agent) ? options.agent : std::string{}};
  if (verdict == "allow") return;
  auto advice = advice_after(refused, situation);
  advice.command = addressed(std::move(advice.command), options.control);
  std::cout << advice_text(advice);
}

// "POST https://…" as two words or as one.
bool split_words(ExplainOptions& options) {
  if (options.words.size() > 2) return false;
  options.target = options.words.back();
  if (options.words.size() == 2) options.method = options.words.front();
  if (const auto blank = options.target.find(' '); blank != std::string::npos) {
    options.method = options.target.substr(0, blank);
    options.target.erase(0, blank + 1);
  }
  return true;
}

int run_explain(const ExplainOptions& options) {
  auto client = connect(options.control, Access::look);
  if (!client) return report(client.error(), options.control);
  const auto answer = send_request(*client, request_to_explain(options));
  if (!answer) return report(answer.error(), options.control);
  if (options.control.json) {
    std::cout << dump(answer->json) << '\n';
  } else {
    const auto situation = ask_situation(*client, agent_of(answer->json));
    print_explain(options, answer->json, situation, Terminal::of_output());
  }
  return text_of(answer->json, "verdict") == "deny" ? failed : fine;
}

}  // namespace

void add_explain(Command& stile) {
  auto options = std::make_shared<ExplainOptions>();
  auto command = stile.add("explain", "show how a request would be decided, and why");
  command.word("AGENT", options->agent, "an agent's id, or a source address").required();
  command
      .words("URL", options->words,
             "https://…, http://…, or HOST[:PORT] for a tunnel; a METHOD may come before it")
      .required();
  command.option("--method", options->method, "the same as METHOD");
  command.flag("--resolve", options->resolve, "look up the name and check its addresses, too");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile explain alpha https://example.com/\n"
      "  stile explain alpha POST https://api.github.com/repos/acme/app/issues\n"
      "  stile explain alpha github.com:22 --resolve\n"
      "  stile explain 10.200.0.2 http://packages.example.net/\n"
      "Exit status: 0 if the policy allows it (in mode observe, if it would be let through), 1 if\n"
      "it is refused. Nothing is sent and nothing is counted.");
  command.does([options] {
    if (!split_words(*options)) return misuse("explain", "more than a METHOD and a URL");
    return run_explain(*options);
  });
}

}  // namespace stile::cli
