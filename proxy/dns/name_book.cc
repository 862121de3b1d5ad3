// NameBook: the addresses that stand for names, of all agents, shared by all workers.
#include "proxy/dns/name_book.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "acl/host.h"
#include "base/files.h"
#include "base/system_error.h"
#include "proxy/base/log.h"

namespace stile::dns {
namespace {

constexpr const char* names_file = "names";
constexpr std::size_t small_file_bytes = 64 * 1024;  // not worth writing again
constexpr std::size_t outdated_factor = 4;
// A name that is asked for again gets another line when so many others came after its last one.
// After a restart only the newest names are kept, and it is one of them.
constexpr std::uint64_t lines_before_another = AgentNames::max_names / 4;

log::Throttle not_kept;

std::string label_of(const acl::AgentPolicy& agent) {
  return agent.id + ' ' + (agent.instance.empty() ? "-" : agent.instance);
}

// The text up to the next blank; empty if there is none.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  if (end == std::string_view::npos) return {};
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end + 1);
  return word;
}

}  // namespace

std::string name_line(std::string_view id_and_instance, const StandIn& entry) {
  std::string line{id_and_instance};
  line.append(" ").append(entry.name).append(" ").append(entry.address.text()).append("\n");
  return line;
}

bool take_name_line(std::string_view& text, NameLine& line) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {  // a write that was cut
    text = {};
    return false;
  }
  std::string_view rest = text.substr(0, end);
  text.remove_prefix(end + 1);
  line.id = take_word(rest);
  line.instance = take_word(rest);
  line.name = take_word(rest);
  if (line.instance == "-") line.instance = {};
  const auto address = acl::Address::parse(rest);
  const acl::HostParse host = acl::parse_host(line.name);
  if (!address || line.id.empty() || host.kind != acl::HostParse::Kind::name ||
      host.host.text() != line.name) {
    return false;
  }
  line.address = *address;
  return true;
}

Result<void> NameBook::keep_in(const std::string& directory, const acl::Snapshot& agents,
                               SteadyTime now) {
  const std::lock_guard lock{mutex_};
  const UniqueFd folder{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) return system_error("cannot open " + directory);
  const auto text = read_file(folder.get(), names_file, 2 * max_file_bytes);
  if (!text) return text.error();
  if (*text) restore(**text, agents, now);
  directory_ = directory;
  return replace_file();
}

// From the end of the file: of two lines for one address or one name the newer one holds, and of
// more names than an agent may have, the newer ones stay.
void NameBook::restore(std::string_view text, const acl::Snapshot& agents, SteadyTime now) {
  while (!text.empty()) {
    const std::size_t before = text.substr(0, text.size() - 1).rfind('\n');
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    std::string_view last = text.substr(start);
    text = text.substr(0, start);
    NameLine line;
    if (!take_name_line(last, line)) continue;
    const auto* agent = agents.by_id(line.id);
    if (agent == nullptr || (*agent)->instance != line.instance) continue;
    agent_of(**agent).names.restore(line.name, line.address, now);
  }
}

NameBook::Agent& NameBook::agent_of(const acl::AgentPolicy& policy) {
  const auto found = agents_.find(policy.account.get());
  if (found != agents_.end()) return found->second;
  const auto offset = static_cast<std::uint32_t>(random_.next());
  Agent agent{policy.account, label_of(policy), AgentNames{subnet_, offset}, 0, {}};
  return agents_.emplace(policy.account.get(), std::move(agent)).first->second;
}

StandInPtr NameBook::stand_in(const acl::AgentPolicy& policy, std::string_view name,
                              SteadyTime now) {
  const std::lock_guard lock{mutex_};
  Agent& agent = agent_of(policy);
  const StandInPtr known = agent.names.find_name(name);
  StandInPtr entry = agent.names.stand_in(name, now);
  if (entry && (entry != known || agent.lines - entry->line >= lines_before_another)) {
    append(agent, *entry);
  }
  return entry;
}

void NameBook::append(Agent& agent, const StandIn& entry) {
  if (!file_ || file_bytes_ + unwritten_.size() >= 2 * max_file_bytes) return;
  unwritten_ += name_line(agent.label, entry);
  entry.line = ++agent.lines;
}

// A name that cannot be kept works until the daemon ends.
void NameBook::write_new() {
  const std::lock_guard lock{mutex_};
  if (unwritten_.empty()) return;
  if (write_all(file_.get(), unwritten_)) {
    file_bytes_ += unwritten_.size();
  } else {
    not_kept.warning("an address may lose its name when the daemon restarts: ", error_text(errno));
  }
  unwritten_.clear();
}

StandInPtr NameBook::find(const acl::AgentPolicy& policy, const acl::Address& address) const {
  const std::lock_guard lock{mutex_};
  const auto found = agents_.find(policy.account.get());
  return found == agents_.end() ? nullptr : found->second.names.find(address);
}

bool NameBook::is_news(const acl::AgentPolicy& policy, std::string_view name, SteadyTime now) {
  const std::lock_guard lock{mutex_};
  auto& refused = agent_of(policy).refused;
  if (const auto found = refused.find(name); found != refused.end()) {
    if (now - found->second < refusal_interval) return false;
    found->second = now;
    return true;
  }
  if (refused.size() >= max_refusals) {
    std::erase_if(refused,
                  [&](const auto& entry) { return now - entry.second >= refusal_interval; });
  }
  // Not remembered beyond that: the log has a rate of its own.
  if (refused.size() < max_refusals) refused.emplace(std::string{name}, now);
  return true;
}

void NameBook::keep_only(const acl::Snapshot& snapshot) {
  const std::lock_guard lock{mutex_};
  std::erase_if(agents_, [&](const auto& entry) {
    const std::string& label = entry.second.label;
    const auto* agent = snapshot.by_id(std::string_view{label}.substr(0, label.find(' ')));
    return agent == nullptr || (*agent)->account != entry.second.account;
  });
}

std::string NameBook::write_text() {
  std::string text;
  for (auto& [account, one] : agents_) {
    Agent& agent = one;
    agent.lines = 0;
    agent.names.for_each([&](const StandIn& entry) {
      if (text.size() < max_file_bytes) text += name_line(agent.label, entry);
      entry.line = ++agent.lines;
    });
  }
  return text;
}

// Not synced to the disk: a crash of the host also ends the agents.
Result<void> NameBook::replace_file() {
  const std::string path = directory_ + '/' + names_file, next = path + ".new";
  const std::string all = write_text();
  UniqueFd file{
      ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!file || !write_all(file.get(), all) || std::rename(next.c_str(), path.c_str()) != 0) {
    return system_error("cannot write " + path);
  }
  file_ = std::move(file);
  unwritten_.clear();  // all entries are in the new file
  file_bytes_ = tidy_bytes_ = all.size();
  return {};
}

void NameBook::write_again() {
  const std::lock_guard lock{mutex_};
  if (directory_.empty()) return;
  if (const auto done = replace_file(); !done) not_kept.warning(done.error().message);
}

void NameBook::tidy() {
  const std::lock_guard lock{mutex_};
  if (directory_.empty() || file_bytes_ < small_file_bytes ||
      file_bytes_ < outdated_factor * tidy_bytes_) {
    return;
  }
  if (const auto done = replace_file(); !done) not_kept.warning(done.error().message);
  tidy_bytes_ = std::max(tidy_bytes_, file_bytes_ / outdated_factor + 1);
}

}  // namespace stile::dns
