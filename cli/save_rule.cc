// save_rule: writes allow rules into the file that contains an agent's entry.
#include "cli/save_rule.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/contains.h"
#include "base/files.h"
#include "base/system_error.h"
#include "cli/advice.h"
#include "cli/command.h"
#include "cli/edit_list.h"
#include "config/card.h"
#include "config/embedded.h"
#include "config/load.h"
#include "config/schema.h"

namespace stile::cli {
namespace {

using Rules = std::vector<std::string>;

CommandFailure cannot_save(const std::string& message, std::string advice, std::string note = {}) {
  return {failed, "cannot-save", message, std::move(advice), std::move(note)};
}

std::string by_hand(const std::string& file, const Rules& patterns) {
  std::string list;
  for (const auto& pattern : patterns) list += (list.empty() ? "\"" : ", \"") + pattern + '"';
  return "add " + list + " to the agent's allow list in " + file + " by hand, then: stile reload";
}

// "/etc/stile/stile.toml:12" -> the file.
std::string file_of(const std::string& entry) {
  const auto colon = entry.rfind(':');
  const bool has_line = colon != std::string::npos && colon + 1 < entry.size() &&
                        entry.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return has_line ? entry.substr(0, colon) : entry;
}

CommandOutcome<std::string> read_file(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in) return cannot_save("cannot read " + file + ": " + error_text(errno), as_root());
  return CommandOutcome<std::string>{boost::system::in_place_value, std::move(text)};
}

// All agents of a file, as parsed.
struct Document {
  config::Settings settings;  // for a card, only the agent
};

std::optional<Document> read_document(const std::string& text, const std::string& file,
                                      ListSyntax syntax) {
  Document document;
  if (syntax == ListSyntax::json) {
    auto card = config::parse_card(text, {file, 0, std::filesystem::path{file}.parent_path()});
    if (!card) return {};
    document.settings.agent.push_back(std::move(*card));
    return document;
  }
  auto settings = config::parse_settings(text, file);
  if (!settings) return {};
  document.settings = std::move(*settings);
  return document;
}

const config::AgentSettings* find_agent(const Document& document, const std::string& id) {
  const auto& agents = document.settings.agent;
  const auto found =
      std::find_if(agents.begin(), agents.end(), [&](const auto& agent) { return agent.id == id; });
  return found == agents.end() ? nullptr : &*found;
}

Rules allowed_by(const config::AgentSettings& agent) {
  Rules patterns;
  for (const auto& rule : agent.allow) patterns.push_back(rule.pattern.text());
  return patterns;
}

// Whether both are equal except that the allow list of `id` has grown by `added`.
bool differ_only_by(const Document& before, const Document& after, const std::string& id,
                    const Rules& added) {
  for (const auto& key : config::global_keys()) {
    if (key.print(before.settings) != key.print(after.settings)) return false;
  }
  if (before.settings.agent.size() != after.settings.agent.size()) return false;
  for (std::size_t i = 0; i < before.settings.agent.size(); ++i) {
    const auto& old_agent = before.settings.agent[i];
    const auto& new_agent = after.settings.agent[i];
    auto expected = allowed_by(old_agent);
    if (old_agent.id == id) expected.insert(expected.end(), added.begin(), added.end());
    if (allowed_by(new_agent) != expected) return false;
    for (const auto& key : config::agent_keys()) {
      if (key.name != "allow" && key.print(old_agent) != key.print(new_agent)) return false;
    }
  }
  return true;
}

Result<std::string> edit(const std::string& text, const config::AgentSettings& agent,
                         const std::string& file, const Rules& added, ListSyntax syntax) {
  const auto place_in_text = [&](const char* key) {
    const auto place = config::place_of(file, agent.keys, "agent", key);
    return place.line == 0 ? std::string::npos : offset_of(text, place.line, place.column);
  };
  if (const auto key = place_in_text("allow"); key != std::string::npos) {
    return add_to_list(text, key, added, syntax);
  }
  const auto id = place_in_text("id");
  if (id == std::string::npos) return Error{"the agent's id was not found in the text"};
  const char* name = syntax == ListSyntax::json ? "allowed_hosts" : "allow";
  return add_new_list(text, id, name, added, syntax);
}

// Removes the file unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& beside) : path_{beside + ".XXXXXX"} {
    fd_.reset(::mkostemp(path_.data(), O_CLOEXEC));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_ && !is_kept_) ::unlink(path_.c_str());
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool write(std::string_view text) const {
    return write_all(fd_.get(), text) && ::fsync(fd_.get()) == 0;
  }
  [[nodiscard]] bool replace(const std::string& file) {
    is_kept_ = ::rename(path_.c_str(), file.c_str()) == 0;
    return is_kept_;
  }

 private:
  std::string path_;
  UniqueFd fd_;
  bool is_kept_ = false;
};

}  // namespace

CommandOutcome<FileChange> plan_rules(const std::string& entry, const std::string& agent,
                                      const Rules& patterns) {
  if (entry == "put-agent" || entry.empty()) {
    return cannot_save(agent + " is in no file: it was added with put-agent", {},
                       "add the hosts to its card, then: stile put-agent FILE");
  }
  if (file_of(entry) == config::embedded_name) {
    return cannot_save("the daemon has no config file, and uses its embedded default", {},
                       "write one with `stile init --write stile.toml`, and start: stiled -c "
                       "stile.toml");
  }
  if (!entry.starts_with('/')) {  // relative to the daemon's start directory, which is unknown
    return cannot_save("the daemon names its config by a relative path: " + file_of(entry), {},
                       by_hand(file_of(entry), patterns));
  }
  if (entry.starts_with(runtime_cards)) {
    return cannot_save(
        "the card of " + agent + " belongs to stile-netns, which would overwrite the change", {},
        "add the hosts to a card, then: stile-netns create " + agent + " --card FILE");
  }
  std::error_code problem;
  const auto real = std::filesystem::canonical(file_of(entry), problem);
  const auto file = problem ? file_of(entry) : real.string();
  const auto text = read_file(file);
  if (!text) return text.error();
  const auto syntax = file.ends_with(".json") ? ListSyntax::json : ListSyntax::toml;
  const auto before = read_document(*text, file, syntax);
  const auto* found = before ? find_agent(*before, agent) : nullptr;
  if (found == nullptr) {
    return cannot_save(file + " does not have agent " + agent + " as the daemon has it",
                       "stile check && stile reload");
  }
  const auto known = allowed_by(*found);
  Rules added;
  for (const auto& pattern : patterns) {
    const auto parsed = acl::Pattern::parse(pattern);
    const auto canonical = parsed ? parsed->text() : pattern;
    if (!contains(known, canonical)) added.push_back(canonical);
  }
  if (added.empty()) return FileChange{file, *text, *text};
  const auto edited = edit(*text, *found, file, added, syntax);
  if (!edited) {
    return cannot_save(file + " cannot be edited safely: " + edited.error().message, {},
                       by_hand(file, added));
  }
  const auto after = read_document(*edited, file, syntax);
  if (!after || !differ_only_by(*before, *after, agent, added)) {
    return cannot_save(file + " cannot be edited safely: the result would not mean the same", {},
                       by_hand(file, added));
  }
  return FileChange{file, *text, *edited};
}

CommandOutcome<void> write_change(const FileChange& change) {
  const auto cannot = [&](const std::string& what) {
    return cannot_save(what + ' ' + change.file + ": " + error_text(errno), as_root());
  };
  struct stat status {};
  if (::stat(change.file.c_str(), &status) != 0) return cannot("cannot read");
  TemporaryFile fresh{change.file};
  if (fresh.fd() < 0) return cannot("cannot write beside");
  if (::fchown(fresh.fd(), status.st_uid, status.st_gid) != 0)
    return cannot("cannot keep the owner of");
  if (::fchmod(fresh.fd(), status.st_mode & 07777U) != 0) return cannot("cannot keep the mode of");
  if (!fresh.write(change.after)) return cannot("cannot write");
  const auto now = read_file(change.file);
  if (!now) return now.error();
  if (*now != change.before)
    return cannot_save(change.file + " was changed meanwhile", typed_command());
  if (!fresh.replace(change.file)) return cannot("cannot replace");
  return {};
}

}  // namespace stile::cli
