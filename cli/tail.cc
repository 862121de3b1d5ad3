// stile tail: shows what agents do, live.
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>

#include "audit/line.h"
#include "audit/show.h"
#include "audit/text.h"
#include "base/table.h"
#include "cli/advisor.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/event_line.h"

namespace stile::cli {
namespace {

struct TailOptions {
  ControlOptions control;
  audit::ShowOptions filter;
};

// Every line is flushed before the program waits for the next one, so nothing is lost.
void end_quietly(int) { ::_exit(fine); }

void show_event(const TailOptions& options, const std::string& text, const Terminal& terminal,
                Advisor& advisor) {
  audit::Line line;
  if (audit::read_line(text, line) == audit::LineKind::whole) {
    if (!audit::matches(line, options.filter)) return;
    if (options.control.json) {
      std::cout << text << std::endl;  // an audit line is printable ASCII
    } else {
      std::cout << event_line(line, terminal) << '\n'
                << advice_text(advisor.after(line), "         ") << std::flush;
    }
    return;
  }
  const Json event = Json::parse(text);
  if (options.control.json) {
    std::cout << dump(event) << std::endl;
  } else if (text_of(event, "event") == "missed") {
    const auto words = "-- " + audit::counted(number_of(event, "count"), "event") +
                       " missed: they came faster than they were read; all are in the log";
    std::cout << terminal.coloured(words, Colour::yellow) << std::endl;
  } else if (const auto detail = text_of(event, "detail"); !detail.empty()) {
    const bool is_failing = text_of(event, "event") == "audit-failing";
    std::cout << terminal.coloured("-- audit: " + Cell{detail}.text,
                                   is_failing ? Colour::red : Colour::yellow)
              << std::endl;
  }
}

int run_tail(const TailOptions& options) {
  std::signal(SIGINT, end_quietly);
  std::signal(SIGTERM, end_quietly);
  std::signal(SIGPIPE, end_quietly);
  auto client = connect(options.control, Access::look);
  if (!client) return report(client.error(), options.control);
  if (!options.filter.agent.empty()) {
    const Json agent{{"action", "agent"}, {"agent", options.filter.agent}};
    if (const auto known = send_request(*client, agent); !known) {
      return report(known.error(), options.control);
    }
  }
  Json request{{"action", "tail"}};
  if (!options.filter.agent.empty()) request.set("agent", options.filter.agent);
  if (const auto answer = send_request(*client, request); !answer) {
    return report(answer.error(), options.control);
  }
  const Terminal terminal = Terminal::of_output();
  Advisor advisor{options.control};
  while (true) {
    const auto text = client->next_line(std::nullopt);
    if (!text) return report(failure_of(text.error(), client->path()), options.control);
    if (!*text) {
      return report(
          {no_daemon, "no-daemon", "the daemon at " + client->path() + " closed the connection",
           "systemctl status stiled"},
          options.control);
    }
    show_event(options, **text, terminal, advisor);
  }
}

}  // namespace

void add_tail(Command& stile) {
  auto options = std::make_shared<TailOptions>();
  auto command = stile.add("tail", "watch decisions as they are made");
  command.option("--agent", options->filter.agent, "only this agent");
  command.flag("--denied", options->filter.denied_only, "only what is, or would be, refused");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile tail --denied\n"
      "  stile tail --agent alpha\n"
      "  stile tail --json | jq -r .host\n"
      "One line an event, times in UTC; the first refusal of a kind with what to do about it.\n"
      "A slow reader never delays the proxy: a line says how\n"
      "many events it missed. Ctrl-C ends it.");
  command.does([options] { return run_tail(*options); });
}

}  // namespace stile::cli
