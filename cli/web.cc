// stile web: print a link that logs a browser in to stile-web.
#include <iostream>
#include <memory>

#include "base/quoted.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "control/daemon_sockets.h"

namespace stile::cli {
namespace {

constexpr control::ControlClient::Bounds bounds{std::chrono::seconds{10}, std::size_t{64} << 10U};

struct WebOptions {
  std::string login;
  ControlOptions output;  // only its json
};

CommandFailure no_page(const std::vector<std::string>& paths) {
  std::string message = "stile-web does not run: no socket at ";
  for (const auto& path : paths) message += (&path == &paths.front() ? "" : " or ") + path;
  return {no_daemon, "no-daemon", std::move(message),
          "sudo systemctl enable --now stile-web   # or, for a daemon of your own: stile-web"};
}

CommandFailure failure_at(const control::ClientError& error, const std::string& path) {
  if (error.kind == control::ClientError::Kind::forbidden) {
    return {failed, "no-permission", "may not use " + path, "sudo stile web"};
  }
  return {failed, "no-answer", error.message, "journalctl -u stile-web -n 50"};
}

CommandOutcome<Answer> ask_for_link(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    auto client = control::ControlClient::connect(path, bounds);
    if (!client && client.error().kind == control::ClientError::Kind::absent) continue;
    if (!client) return failure_at(client.error(), path);
    const auto line = client->next_line(bounds.patience);
    if (!line) return failure_at(line.error(), path);
    Json answer = Json::parse(line->value_or(""));
    if (!has(answer, "url")) {
      return CommandFailure{failed, "no-answer", "stile-web at " + path + " gave no link",
                            "journalctl -u stile-web -n 50"};
    }
    return Answer{std::move(answer)};
  }
  return no_page(paths);
}

int print_link(const WebOptions& options) {
  const auto answer = ask_for_link(control::login_sockets(options.login));
  if (!answer) return report(answer.error(), options.output);
  std::cout << (options.output.json ? dump(answer->json) : printable(text_of(answer->json, "url")))
            << '\n';
  if (!options.output.json) std::cerr << "The link works once, within five minutes.\n";
  return fine;
}

}  // namespace

void add_web(Command& stile) {
  auto options = std::make_shared<WebOptions>();
  auto command = stile.add("web", "print a link that opens the web page");
  command.option("--login", options->login,
                 "the login socket of stile-web (default: $STILE_WEB_SOCKET, else the usual ones)");
  command.flag("--json", options->output.json, "print JSON, for scripts");
  command.examples(
      "Examples:\n"
      "  stile web\n"
      "  xdg-open \"$(stile web)\"\n"
      "From another machine: ssh -L 9129:127.0.0.1:9129 HOST, and there `stile web`.");
  command.does([options] { return print_link(*options); });
}

}  // namespace stile::cli
