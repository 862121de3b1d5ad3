// stile fleet: signs and publishes the policy of many hosts, and shows what they made of it.
#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/files.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "cli/argument_checks.h"
#include "cli/command_list.h"
#include "cli/fleet_replay.h"
#include "cli/fleet_status.h"
#include "cli/fleet_try.h"
#include "config/load.h"
#include "fleet/ledger.h"
#include "fleet/publish.h"
#include "fleet/settings.h"

namespace stile::cli {
namespace {

using fleet::Cluster, fleet::Envelope;

constexpr UnixMicros slow_clocks = 300'000'000;  // a host whose clock is late takes it at once

struct FleetOptions {
  bool is_trial = false;
  std::string patience = "30s";
  std::string config = config::default_path;
  std::string name, file, key, from, life = "90d";
  std::vector<std::string> hosts, labels;
  std::uint64_t serial = 0;
  bool json = false, is_signed = false;
};

int fleet_failure(const std::string& message, const std::string& next = {}) {
  std::cerr << "stile fleet: " << message << (message.ends_with('\n') ? "" : "\n");
  if (!next.empty()) std::cerr << "  next: " << next << '\n';
  return failed;
}

Result<Cluster> open_cluster(const FleetOptions& options) {
  auto settings = fleet::read_settings(options.config);
  if (!settings) {
    Error problem = settings.error();
    if (::access(options.config.c_str(), R_OK) != 0) {
      problem.message += "\n  note: name a file with the section [fleet]: -c FILE";
    }
    return problem;
  }
  return Cluster::open(std::move(*settings));
}

Envelope draft_of(const FleetOptions& options, std::string body) {
  Envelope envelope;
  const auto now = unix_micros() / 1'000'000 * 1'000'000;
  envelope.serial = options.serial;
  envelope.not_before = parse_time(options.from).value_or(now - slow_clocks);
  envelope.not_after = now + std::chrono::microseconds{*parse_duration(options.life)}.count();
  envelope.hosts = options.hosts;
  envelope.labels = options.labels;
  envelope.body = std::move(body);
  return envelope;
}

std::string check_time(const std::string& text) {
  return parse_time(text) ? "" : "expected a time such as 2026-11-16T09:00:00Z";
}

void show(const char* done, const std::string& name, const Envelope& envelope, std::ostream& out) {
  out << done << ": " << name << " serial " << envelope.serial << "\n  for    "
      << targets_text(envelope) << "\n  from   " << time_text(envelope.not_before) << "\n  until  "
      << time_text(envelope.not_after) << "\n  body   " << printable(envelope.body) << "\n  key    "
      << envelope.signer << '\n';
}

bool write_key_file(const std::string& path, const std::string& text, mode_t mode) {
  const UniqueFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
  return file && write_all(file.get(), text);
}

int make_keys(const FleetOptions& options) {
  const auto pair = fleet::make_key_pair();
  if (!pair) return fleet_failure(pair.error().message);
  const std::string open_half = options.file + ".pub";
  if (!write_key_file(options.file, pair->private_pem, 0600)) {
    const auto* note =
        errno == EEXIST ? "\n  note: choose another name; a key is never overwritten" : "";
    return fleet_failure(system_error(options.file).message + note);
  }
  if (!write_key_file(open_half, pair->public_pem, 0644)) {
    return fleet_failure(system_error(open_half).message);
  }
  std::cout << options.file << "  signs; keep it away from the hosts\n"
            << open_half << "  goes to every host, as one of fleet.signers\n  key "
            << fleet::fingerprint(*fleet::public_key(pair->public_pem)) << '\n';
  return fine;
}

int sign_file(const FleetOptions& options) {
  const std::string name = "policy/" + options.name;
  if (!fleet::is_object_name(name))
    return fleet_failure(in_quotes(options.name) + " is not a name");
  if (options.serial == 0) {
    return misuse("fleet sign", "--serial is needed: one more than the serial in the store");
  }
  auto body = fleet::policy_body(options.name, options.file);
  if (!body) return fleet_failure(body.error().message);
  const auto key = fleet::read_signing_key(options.key);
  if (!key) return fleet_failure(key.error().message);
  Envelope envelope = draft_of(options, std::move(*body));
  if (const auto done = fleet::sign(*key, name, envelope); !done) {
    return fleet_failure(done.error().message);
  }
  show("signed", name, envelope, std::cerr);
  std::cout << fleet::envelope_text(envelope);
  return fine;
}

int print_published(const FleetOptions& options, const std::string& name,
                    const Envelope& envelope) {
  if (options.json) return print_json({{"ok", true}, {"name", name}, {"serial", envelope.serial}});
  show("published", name, envelope, std::cout);
  std::cout << "  see: stile fleet status\n";
  return fine;
}

int publish_file(const FleetOptions& options) {
  const std::string name = "policy/" + options.name;
  if (!fleet::is_object_name(name))
    return fleet_failure(in_quotes(options.name) + " is not a name");
  auto cluster = open_cluster(options);
  if (!cluster) return fleet_failure(cluster.error().message);
  if (options.is_signed) {
    const auto text = fleet::read_small_file(options.file, fleet::max_envelope_bytes);
    if (!text) return fleet_failure(text.error().message);
    const auto written = fleet::publish_signed(*cluster, name, *text);
    if (!written) return fleet_failure(written.error().message);
    return print_published(options, name, *written);
  }
  auto body = fleet::policy_body(options.name, options.file);
  if (!body) return fleet_failure(body.error().message);
  const auto key = fleet::read_signing_key(options.key);
  if (!key) return fleet_failure(key.error().message);
  if (options.is_trial) {
    const auto time = *parse_duration(options.patience);
    return try_on_fleet(*cluster, options.name, draft_of(options, std::move(*body)), *key,
                        {time, options.json});
  }
  const auto written =
      fleet::publish(*cluster, {name, draft_of(options, std::move(*body)), std::nullopt}, *key);
  if (!written) return fleet_failure(written.error().message, "stile fleet status");
  return print_published(options, name, *written);
}

int set_switch(const FleetOptions& options, fleet::Switch mode) {
  auto cluster = open_cluster(options);
  if (!cluster) return fleet_failure(cluster.error().message);
  const auto key = fleet::read_signing_key(options.key);
  if (!key) return fleet_failure(key.error().message);
  const auto written = fleet::publish(
      *cluster, {"switch", draft_of(options, fleet::switch_body(mode)), std::nullopt}, *key);
  if (!written) return fleet_failure(written.error().message, "stile fleet status");
  if (options.json) return print_published(options, "switch", *written);
  std::cout << targets_text(*written)
            << (mode == fleet::Switch::offline ? ": offline" : ": online again")
            << " (switch serial " << written->serial << ")\n  see: stile fleet status\n";
  return fine;
}

int show_status(const FleetOptions& options) {
  auto cluster = open_cluster(options);
  if (!cluster) return fleet_failure(cluster.error().message);
  const auto signers = fleet::read_signers(cluster->settings);
  if (!signers) {
    return fleet_failure(signers.error().message +
                         "\n  note: name the public half of the key as `signers` in [fleet] of " +
                         options.config);
  }
  const auto overview = fleet::look(*cluster, *signers);
  if (!overview) return fleet_failure(overview.error().message);
  if (options.json) {
    std::cout << dump(as_json(*overview)) << '\n';
  } else {
    print_overview(*overview, Terminal::of_output());
  }
  return fine;
}

void add_common(Command& command, FleetOptions& options) {
  command.option("-c,--config", options.config, "the config with [fleet]").shown_as("FILE");
  command.flag("--json", options.json, "print JSON, for scripts");
}

void add_signing(Command& command, FleetOptions& options) {
  command.option("--key", options.key, "the private key that signs (default: $STILE_FLEET_KEY)")
      .shown_as("FILE");
  command.options("--host", options.hosts, "only for this host; may be repeated")
      .repeated()
      .shown_as("HOST");
  command.options("--label", options.labels, "only for hosts with this label; may be repeated")
      .repeated()
      .shown_as("LABEL");
  command.option("--from", options.from, "count from this time on (default: at once)")
      .shown_as("TIME")
      .check(check_time);
  command
      .option("--for", options.life,
              "how long it is valid (default: 90d); hosts keep what it forbids")
      .check(check_duration);
}

}  // namespace

void add_fleet(Command& stile) {
  auto fleet = stile.add("fleet", "sign and publish policy for many hosts, and show their state");
  fleet.examples(
      "Examples:\n"
      "  stile fleet keygen fleet.key\n"
      "  stile fleet publish base policy.toml --key fleet.key\n"
      "  stile fleet status\n"
      "  stile fleet offline --label prod --key fleet.key");
  {
    auto options = std::make_shared<FleetOptions>();
    auto command = fleet.add("keygen", "make a key that signs, and its public half");
    command.word("FILE", options->file, "the new private key; the public half is FILE.pub")
        .required();
    command.examples("Example:\n  stile fleet keygen fleet.key");
    command.does([options] { return make_keys(*options); });
  }
  {
    auto options = std::make_shared<FleetOptions>();
    auto command = fleet.add("sign", "sign a policy without the store; prints the object");
    command.word("NAME", options->name, "of the policy").required();
    command.word("FILE", options->file, "[egress], [[agent]] and [[secret]], TOML or *.json")
        .required();
    add_signing(command, *options);
    command.option("--serial", options->serial, "one more than the serial in the store");
    command.examples(
        "Example:\n"
        "  stile fleet sign base policy.toml --key fleet.key --serial 7 > base.signed\n"
        "  stile fleet publish base base.signed --signed");
    command.does([options] { return sign_file(*options); });
  }
  {
    auto options = std::make_shared<FleetOptions>();
    auto command = fleet.add("publish", "sign a policy and write it to the store");
    command.word("NAME", options->name, "of the policy").required();
    command.word("FILE", options->file, "[egress], [[agent]] and [[secret]], TOML or *.json")
        .required();
    add_signing(command, *options);
    command.option("--serial", options->serial, "use this serial (default: the next one)");
    const auto is_signed = command.flag("--signed", options->is_signed,
                                        "FILE is an object that `stile fleet sign` made");
    command
        .flag("--try", options->is_trial,
              "publish nothing: every host judges its own log and its open connections by it")
        .excludes(is_signed);
    command
        .option("--wait", options->patience,
                "with --try: how long to wait for hosts (default: 30s)")
        .shown_as("TIME")
        .check(check_duration);
    add_common(command, *options);
    command.examples(
        "Examples:\n"
        "  stile fleet publish base policy.toml --key fleet.key\n"
        "  stile fleet publish base policy.toml --key fleet.key --try\n"
        "  stile fleet publish eu eu.toml --label eu --for 30d --key fleet.key\n"
        "To remove a policy, publish an empty file under its name: hosts ignore a key that is "
        "gone.");
    command.does([options] { return publish_file(*options); });
  }
  {
    auto options = std::make_shared<ControlOptions>();
    auto file = std::make_shared<std::string>();
    auto command = fleet.add("replay", "judge this host by a candidate; stile-fleet runs it");
    command.word("FILE", *file, "the candidate").required();
    add_control_options(command, *options);
    command.examples("Example:\n  stile fleet publish base policy.toml --key fleet.key --try");
    command.does([options, file] { return replay_candidate(*file, *options); });
  }
  {
    auto options = std::make_shared<FleetOptions>();
    auto command = fleet.add("status", "show all objects and hosts, and who is behind");
    add_common(command, *options);
    command.examples(
        "Example:\n  stile fleet status --json | jq '.hosts[] | select(.behind != \"\")'");
    command.does([options] { return show_status(*options); });
  }
  for (const auto mode : {fleet::Switch::offline, fleet::Switch::online}) {
    const bool is_offline = mode == fleet::Switch::offline;
    auto options = std::make_shared<FleetOptions>();
    auto command = fleet.add(is_offline ? "offline" : "online",
                             is_offline ? "refuse everything, on all hosts or those with a label"
                                        : "end `stile fleet offline`");
    add_signing(command, *options);
    add_common(command, *options);
    command.examples(is_offline ? "Examples:\n  stile fleet offline --key fleet.key\n"
                                  "  stile fleet offline --label prod --key fleet.key"
                                : "Example:\n  stile fleet online --key fleet.key");
    command.does([options, mode] { return set_switch(*options, mode); });
  }
}

}  // namespace stile::cli
