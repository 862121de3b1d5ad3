// stile mcp: an MCP server for a captain: an agent that starts workers and gives them tasks.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/quoted.h"
#include "base/random.h"
#include "cli/command_list.h"
#include "cli/control_client.h"
#include "cli/spawner_client.h"
#include "control/daemon_sockets.h"
#include "mcp/captain.h"
#include "mcp/captain_tools.h"
#include "mcp/gate.h"
#include "mcp/http.h"
#include "mcp/protocol.h"
#include "mcp/stdio.h"

namespace stile::cli {
namespace {

struct McpOptions {
  std::string spawner, socket, listen, token_file;
};

// What was refused is for the captain, who has tools in place of commands.
Error error_of(const CommandFailure& failure) {
  const bool is_for_captain = failure.advice.empty() || failure.code == "refused";
  return {is_for_captain ? failure.message
                         : failure.message + "; for the operator: " + failure.advice};
}

// A captain only looks and asks, so read.sock is enough, and is all that it should have.
std::vector<std::string> sockets_of(const McpOptions& options) {
  const auto paths = control::daemon_sockets(options.socket);
  if (!options.socket.empty() || ::secure_getenv("STILE_SOCKET") != nullptr) return paths;
  std::vector<std::string> all;
  for (const auto& path : paths) {
    all.push_back((std::filesystem::path{path}.parent_path() / "read.sock").string());
    all.push_back(path);
  }
  return all;
}

Result<mcp::DaemonAnswer> ask_daemon(const McpOptions& options, const Json& request) {
  auto client = connect(sockets_of(options));
  if (!client) return error_of(client.error());
  const auto line = client->ask(dump(request));
  if (!line) return error_of(failure_of(line.error(), client->path()));
  Json answer = Json::parse(*line);
  if (flag_of(answer, "ok")) return mcp::DaemonAnswer{std::move(answer)};
  const auto message = text_of(object_of(answer, "error"), "message");
  return Error{message.empty() ? "the daemon gave an unknown answer" : message};
}

mcp::Captain::Services services_of(const McpOptions& options) {
  const auto spawner = [path = options.spawner](const Json& request) -> Result<mcp::DaemonAnswer> {
    auto answer = ask_spawner({path, true}, request);
    if (!answer) return error_of(answer.error());
    return mcp::DaemonAnswer{std::move(answer->json)};
  };
  const auto daemon = [options](const Json& request) { return ask_daemon(options, request); };
  return {spawner, daemon};
}

int fail(const std::string& message) {
  std::cerr << "stile mcp: " << printable(message) << '\n';
  return failed;
}

struct Token {
  std::string text;
  bool is_new = false;
};

// The token as clients send it. One that other users can read is no secret.
Result<Token> token_of(const McpOptions& options) {
  const char* variable = ::secure_getenv("STILE_MCP_TOKEN");
  Token token{variable == nullptr ? "" : variable};
  if (!options.token_file.empty()) {
    struct stat status {};
    std::ifstream file{options.token_file};
    if (!file || ::stat(options.token_file.c_str(), &status) != 0) {
      return Error{"cannot read " + options.token_file};
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
      return Error{"other users can read " + options.token_file + "\n  next: chmod 600 " +
                   shell_word(options.token_file)};
    }
    auto& text = token.text;
    text.assign(std::istreambuf_iterator<char>{file}, {});
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  } else if (token.text.empty()) {
    constexpr std::size_t token_bytes = 32;
    token = {random_hex(token_bytes), true};
  }
  if (const auto problem = mcp::token_problem(token.text); !problem.empty()) return Error{problem};
  return token;
}

int serve(const McpOptions& options) {
  mcp::Captain captain{services_of(options)};
  const mcp::Protocol protocol{STILE_VERSION, std::string{mcp::captain_instructions}, captain};
  if (options.listen.empty()) {
    if (!options.token_file.empty()) return misuse("mcp", "--token-file is for --http");
    if (::isatty(STDIN_FILENO) == 1) {
      std::cerr << "stile mcp: waits for messages of an MCP client on standard input\n";
    }
    mcp::serve_stdio(protocol, captain, STDIN_FILENO, STDOUT_FILENO);
    return fine;
  }
  const auto token = token_of(options);
  if (!token) return fail(token.error().message);
  const auto served = mcp::serve_http(
      protocol, captain, {options.listen, token->text}, [&](const std::string& url) {
        std::cout << url << std::endl;
        if (!token->is_new) return;
        std::cerr << "stile mcp: clients need this header:\n  Authorization: Bearer " << token->text
                  << '\n';
      });
  return served ? fine : fail(served.error().message);
}

}  // namespace

void add_mcp(Command& stile) {
  auto options = std::make_shared<McpOptions>();
  auto command = stile.add("mcp", "serve the tools of a captain over MCP");
  command.option("--http", options->listen, "serve HTTP there instead of standard input")
      .shown_as("127.0.0.1:PORT");
  command
      .option("--token-file", options->token_file,
              "the bearer token of --http (default: $STILE_MCP_TOKEN, else a new one is printed)")
      .shown_as("FILE");
  command.option("--spawner", options->spawner, "the spawner's socket (default: $STILE_SPAWNER)")
      .shown_as("PATH");
  command
      .option("--socket", options->socket,
              "the daemon's socket (default: $STILE_SOCKET, else read.sock or control.sock)")
      .shown_as("PATH");
  command.examples(
      "Examples:\n"
      "  claude mcp add stile -- stile mcp\n"
      "  stile mcp --http 127.0.0.1:8129 --token-file ~/.config/stile/mcp-token\n"
      "A captain can start workers from the operator's templates and ask for access. It can grant\n"
      "nothing.");
  command.does([options] { return serve(*options); });
}

}  // namespace stile::cli
