// stile-web: the page for people. Reads flags, then calls one function.
#include "cmd/program.h"
#include "proxy/base/log.h"
#include "web/server.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"stile-web: serve a page to look at agents, answer their requests and stop them"};
  stile::use_help_text(app, "stile-web " STILE_VERSION);
  stile::web::WebOptions options;
  app.add_option("--listen", options.listen,
                 "serve the page here: a loopback address with a port, or unix:PATH (default: " +
                     options.listen + ')')
      ->type_name("ADDRESS");
  app.add_option("--origin", options.origins,
                 "also answer under this origin, such as http://localhost:8080; repeat for several")
      ->type_name("ORIGIN");
  app.add_option("--socket", options.socket,
                 "the daemon's control socket (default: $STILE_SOCKET, else the config's)")
      ->type_name("PATH");
  app.add_option("--spawner", options.spawner,
                 "the socket of stile-spawner, or - for none (default: $STILE_SPAWNER, else "
                 "/run/agent-spawner/spawner.sock)")
      ->type_name("PATH");
  app.add_option("--login", options.login,
                 "give links to log in on this unix socket (default: $STILE_WEB_SOCKET, else "
                 "$XDG_RUNTIME_DIR/stile-web.sock, else /run/stile-web/login.sock)")
      ->type_name("PATH");
  app.add_option("--group", options.group,
                 "let this group connect to the unix sockets (default: only this user)")
      ->type_name("GROUP");
  app.footer("`stile web` prints a link to log in.");
  if (const auto status = stile::cmd::parse_flags(app, "stile-web", argc, argv)) return *status;
  return stile::web::serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  return stile::cmd::run_program(argc, argv, run, [](const char* why) { stile::log::error(why); });
}
