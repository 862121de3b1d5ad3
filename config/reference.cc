// reference: generates docs/configuration.md from the schema.
#include "config/reference.h"

#include <string_view>

#include "config/schema.h"

namespace stile::config {
namespace {

constexpr std::string_view introduction = R"(# Configuration

<!-- Made from config/schema.cc and config/reference.cc: `ninja config_reference` writes this page. -->

`stiled` reads `/etc/stile/stile.toml`, or the file named with `-c`. A file that was named and cannot
be read is fatal. Without a file it serves `127.0.0.1:3128` for one agent `local` (this host) with a
short allowlist. `stiled --check` reads everything and prints a summary, or all errors with their
places. Commented examples are in [config/examples](../config/examples).

- Unknown keys, wrong types, numbers out of range and duplicate keys are errors.
- Sizes are bytes as a number or a string with a unit: `"64KiB"`, `"50MiB"`, `"2GB"` (KiB, MiB, GiB,
  TiB are powers of 1024; kB, MB, GB, TB of 1000). Durations, where a command takes one, are like
  `500ms`, `10s`, `10m`, `1h30m`, `7d`.
- A relative path starts at the directory of the file that contains it.
- Dates and times are like `2026-12-31T00:00:00Z`, always with an offset.

## Who may write these files

Symbolic links are followed. A file is refused if anyone but root or the owner of `stile.toml` can
write it, or can write a directory on the way to it (those that hold a symbolic link included). Two
kinds of directories are accepted though others can write them, for entries that belong to root or
that owner: sticky ones such as `/tmp`, and those on a read-only mount, such as volumes in Kubernetes.

## What a reload changes

`stile reload`, SIGHUP and the control action `reload` read everything again. The column "applied by"
says what applies a new value of the key: a reload, or only a restart. If a key that needs a restart
has another value, the whole reload is refused, with the name and place of the key, and the current
policy stays in force. In an agent card such a change refuses the card. An agent that is removed
keeps its `listen` sockets open until the next restart; a connection there is refused as
`unknown-agent`.

## What refuses what

An error in `stile.toml`, or in a list file that it names, refuses the whole load; a daemon that runs
keeps the policy it has. A bad card, or one whose id, source or listener is taken already, refuses
only its own agent. Precedence: `stile.toml`, then the directories of cards in their order (each by
file name), then `put-agent`.
)";

constexpr std::string_view agent_introduction = R"(
## [[agent]]

One table for each agent. It is known by the address that it connects from, or by a listener of its
own. A source that belongs to no agent is refused. An agent that allows nothing reaches nothing.
)";

constexpr std::string_view secret_introduction = R"(
## [[secret]]

A credential that Stile puts into the requests of agents that list its name in `secrets`. Agents never
see it. One of `file`, `credential` and `command` says where its value comes from.
)";

constexpr std::string_view scan_introduction = R"(
## [[scan]]

What requests of agents that list its name in `scan` must not carry. See [scans.md](scans.md).
)";

constexpr std::string_view page_of_patterns = R"(
## Patterns

| pattern | matches |
|---|---|
| `example.com` | exactly that name |
| `.example.com` | the name and everything below it |
| `*.example.com` | everything below it, not the name itself |
| `*` | any name |
| `~^api-[0-9]+\.example\.com$` | regular expression (syntax of re2) on the whole name, anchored at both ends whether or not it says so |
| one of the first three + `:8443` | a tunnel to that port and no other |
| `http://` + one of the first three, perhaps + `:8080` | plain HTTP (default port 80), no tunnel |
| `tcp://github.com:22` | a tunnel without TLS inside, that name and port only |

A bare pattern in `allow` covers tunnels to `ports` and plain HTTP to `http_ports`; in `deny` it covers
every port and scheme.

## List files

One pattern a line. Blank lines are skipped, and comments: `#` at the beginning of a line or behind a
blank. The files of squid's `acl … dstdomain "file"` work as they are. An invalid line
refuses the whole file; the error names up to 20 such lines.
)";

constexpr std::string_view cards = R"(
## Agent cards

An agent as a JSON file in one of the directories of `[agents]`, at most 64 KiB:

```json
{"agent_id": "alpha-001", "source": ["10.200.0.2"], "allowed_hosts": ["api.anthropic.com"],
 "ttl_seconds": 3600, "created": "2026-11-16T09:00:00Z"}
```

A card has the keys of `[[agent]]`, and these:

| key | meaning |
|---|---|
)";

// Escapes the text so that it does not end a table cell early.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

template <class Owner>
std::string row(const Key<Owner>& key) {
  const auto value = key.print(Owner{});
  return "| `" + std::string{key.name} + "` | " + cell(key.type) + " | " +
         (value.empty() ? "" : '`' + value + '`') + " | " + std::string{text(key.applies)} + " | " +
         cell(key.help) + " |\n";
}

constexpr std::string_view table_head =
    "\n| key | type | default | applied by | meaning |\n|---|---|---|---|---|\n";

std::string card_table() {
  std::string out;
  for (const auto& key : card_keys()) {
    const auto meaning = key.same_as.empty() ? std::string{key.help}
                                             : "the same as `" + std::string{key.same_as} + '`';
    out += "| `" + std::string{key.name} + "` | " + cell(meaning) + " |\n";
  }
  out +=
      "\nBoth spellings of a key in one card are an error. The daemon ignores the keys that only "
      "matter to a"
      " launcher, see [workers.md](workers.md):\n";
  std::string names;
  for (const auto name : launcher_keys()) {
    names += (names.empty() ? "`" : ", `") + std::string{name} + '`';
  }
  return out + names + ". Any other key is an error.\n";
}

}  // namespace

std::string reference() {
  std::string out{introduction};
  for (const auto& section : sections()) {
    out += "\n## [" + std::string{section.name} + "]\n\n" + std::string{section.help} + '\n';
    out += table_head;
    for (const auto& key : global_keys()) {
      if (key.section == section.name) out += row(key);
    }
  }
  out += agent_introduction;
  out += table_head;
  for (const auto& key : agent_keys()) out += row(key);
  out += secret_introduction;
  out += table_head;
  for (const auto& key : secret_keys()) out += row(key);
  out += scan_introduction;
  out += table_head;
  for (const auto& key : scan_keys()) out += row(key);
  out += page_of_patterns;
  out += cards;
  return out + card_table();
}

}  // namespace stile::config
