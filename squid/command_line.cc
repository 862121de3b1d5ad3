// The command line of squid, as far as an egress filter needs it.
#include "squid/command_line.h"

#include <getopt.h>

#include <string_view>
#include <utility>

namespace stile::squid {
namespace {

using Action = CommandLine::Action;

// In squid's order: `r` is reconfigure, not rotate.
constexpr std::pair<std::string_view, Action> signals[] = {
    {"reconfigure", Action::reconfigure},
    {"rotate", Action::rotate},
    {"shutdown", Action::shutdown},
    {"interrupt", Action::interrupt},
    {"kill", Action::kill},
    {"check", Action::check},
    {"parse", Action::parse},
};

Result<Action> parse_signal(std::string_view word) {
  for (const auto& [name, action] : signals) {
    if (!word.empty() && name.starts_with(word)) return action;
  }
  return Error{
      "-k " + std::string{word} +
      ": unknown action; use one of reconfigure, rotate, shutdown, interrupt, kill, check, parse"};
}

}  // namespace

const char* const usage =
    "Usage: stile-squid [-hvzCFNRSXY] [-s | -l facility] [-d level] [-n name] [-f config-file]\n"
    "                   [-k reconfigure|rotate|shutdown|interrupt|kill|check|parse]\n"
    "    -f file       Read this squid.conf instead of /etc/squid/squid.conf.\n"
    "    -k action     Read the squid.conf, then send the action to the running copy.\n"
    "                  parse and check by themselves start and change nothing.\n"
    "    -N, --foreground\n"
    "                  Stay in the foreground.\n"
    "    -z            Succeed: there is no cache to make.\n"
    "    -h, --help    Print this.\n"
    "    -v, --version Print the version.\n"
    "    -d -l -n -s -C -F -R -S -X -Y are accepted and change nothing.\n";

Result<CommandLine> parse_command_line(int argc, char* const* argv) {
  constexpr int foreground = 256;
  constexpr option long_options[] = {{"foreground", no_argument, nullptr, foreground},
                                     {"help", no_argument, nullptr, 'h'},
                                     {"version", no_argument, nullptr, 'v'},
                                     {nullptr, 0, nullptr, 0}};
  CommandLine result;
  ::opterr = 0;
  ::optind = 0;  // restart, also for a second call
  for (int c = 0;
       // NOLINTNEXTLINE(concurrency-mt-unsafe): before the first thread
       (c = ::getopt_long(argc, argv, ":f:k:d:l:n:hvzCDFNRSXYs", long_options, nullptr)) != -1;) {
    switch (c) {
      case 'f':
        result.file = ::optarg;
        break;
      case 'k': {
        const auto action = parse_signal(::optarg);
        if (!action) return action.error();
        result.action = *action;
        break;
      }
      case 'h':
        result.action = Action::help;
        return result;
      case 'v':
        result.action = Action::version;
        return result;
      case 'z':
        result.action = Action::make_cache;
        break;
      case 'N':
      case foreground:
        result.is_foreground = true;
        break;
      case ':':
      case '?':
        return Error{std::string{argv[::optind - 1]} +
                     ": unrecognized option or missing required argument"};
      default:
        break;
    }
  }
  if (::optind < argc) return Error{std::string{argv[::optind]} + ": is not an option"};
  return result;
}

}  // namespace stile::squid
