// Options: the command line of `stile run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stile::run {

struct Options {
  std::vector<std::string> allow, deny;  // patterns
  std::vector<std::string> can;          // capabilities with their parameters
  std::vector<std::string> ech;          // patterns of hosts where encrypted hellos are allowed
  std::vector<std::string> secret;       // NAME=FILE:HOST[:HEADER]
  std::optional<std::string> card;       // an agent card; the patterns above are added to it
  std::optional<std::string> config;     // a stile.toml for [egress], [dns] and [limits]
  std::optional<std::string> audit;      // path of the audit log; none: no log
  std::optional<std::string> connect;    // control socket of a daemon that serves instead of us
  std::vector<std::string> read, write;  // paths that it sees beside the system and this directory
  std::vector<std::string> expose;       // paths that it sees with the sockets in them
  std::string files = "view";            // or "host"
  std::vector<std::uint16_t> publish;    // ports of this host's loopback that lead to the command
  std::vector<std::uint16_t> host_port;  // ports of its loopback that lead to this host
  std::optional<std::string> profile;  // by name; none: that of the command's name, if there is one
  bool no_profile = false;
  std::optional<std::string> restriction;  // a file that can only take away
  bool dry_run = false;                    // print what would be allowed, and run nothing
  bool nested = false;                     // run inside another sandbox
  bool observe = false;
  bool no_ask = false;               // do not ask the person at the terminal
  bool no_capture = false;           // only programs that use the proxy reach anything
  std::vector<std::string> command;  // empty: that of the card
};

}  // namespace stile::run
