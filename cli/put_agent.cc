// stile put-agent, stile remove-agent: add and remove agents while the daemon runs.
#include <algorithm>
#include <iostream>
#include <memory>

#include "base/quoted.h"
#include "cli/card_file.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

struct PutAgentOptions {
  ControlOptions control;
  std::string file, agent;
};

// Sends the card's own text: parsing and writing it again would lose duplicate keys, which the
// daemon refuses.
int put(const PutAgentOptions& options) {
  auto card = read_card(options.file);
  if (!card) return report(card.error(), options.control);
  std::replace_if(
      card->begin(), card->end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  auto client = connect(options.control, Access::change);
  if (!client) return report(client.error(), options.control);
  const auto answer = send_text(*client, R"({"action":"put-agent","card":)" + *card + '}',
                                {{"action", "put-agent"}});
  if (!answer) return report(answer.error(), options.control);
  if (options.control.json) return print_json(answer->json);
  const Json parsed = Json::parse(*card);
  const auto id = printable(text_of(parsed, has(parsed, "id") ? "id" : "agent_id"));
  std::cout << id << " is an agent now\n  see: stile agents " << id << '\n';
  return fine;
}

int remove(const PutAgentOptions& options) {
  return ask(options.control, Access::change,
             {{"action", "remove-agent"}, {"agent", options.agent}},
             [&](const Json&, const Terminal&) {
               std::cout << options.agent << " is removed; its connections are closed\n";
               return fine;
             });
}

}  // namespace

void add_put_agent(Command& stile) {
  auto options = std::make_shared<PutAgentOptions>();
  auto command = stile.add("put-agent", "add an agent, or replace it, from a card");
  command.word("FILE", options->file, "the card (JSON); - is standard input").required();
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile put-agent alpha.json\n"
      "  echo '{\"agent_id\":\"alpha\",\"source\":[\"10.200.0.2\"],\n"
      "         \"allowed_hosts\":[\"api.openai.com\"],\"ttl_seconds\":3600}' | stile put-agent -");
  command.does([options] { return put(*options); });
}

void add_remove_agent(Command& stile) {
  auto options = std::make_shared<PutAgentOptions>();
  auto command = stile.add("remove-agent", "remove an agent and close what it has open");
  command.word("AGENT", options->agent, "the agent's id").required();
  add_control_options(command, options->control);
  command.examples("Example:\n  stile remove-agent alpha");
  command.does([options] { return remove(*options); });
}

}  // namespace stile::cli
