// Capability: a name for requests that belong together.
#include "config/capability.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/ascii.h"
#include "base/contains.h"
#include "base/files.h"
#include "base/nearest.h"
#include "base/program.h"
#include "base/quoted.h"
#include "base/unique_fd.h"
#include "config/fields.h"
#include "config/inside_values.h"
#include "config/launch.h"
#include "config/settings_reader.h"
#include "config/toml_loader.h"
#include "config/trust.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_bytes = 64U << 10U;

// False: the text names a parameter that there is not.
bool fill_in(std::string& text, const ParameterValues& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      out += text[at++];
      continue;
    }
    const auto end = text.find('}', at);
    if (end == std::string::npos) return false;
    const auto found = values.find(text.substr(at + 1, end - at - 1));
    if (found == values.end()) return false;
    out += found->second;
    at = end + 1;
  }
  text = std::move(out);
  return true;
}

// In a list, "{refs}" stands for all refs.
void spread_refs(Node::Array& list, const ParameterValues& values) {
  const auto refs = values.find("refs");
  if (list.size() != 1 || refs == values.end()) return;
  const auto* text = list.front().as<std::string>();
  if (text == nullptr || *text != "{refs}") return;
  const Position position = list.front().position;
  list.clear();
  for (const auto ref : split_words(refs->second, ' ')) {
    list.push_back(Node{std::string{ref}, position});
  }
}

bool fill_in(Node& node, const ParameterValues& values, const Reader& reader) {
  if (auto* text = std::get_if<std::string>(&node.value)) {
    const std::string before = *text;
    if (fill_in(*text, values)) return true;
    reader.error(node, in_quotes(before) + " names a parameter that the capability does not have");
    return false;
  }
  bool is_good = true;
  if (auto* list = std::get_if<Node::Array>(&node.value)) {
    spread_refs(*list, values);
    for (auto& element : *list) is_good = fill_in(element, values, reader) && is_good;
  }
  if (auto* table = std::get_if<Node::Table>(&node.value)) {
    for (auto& member : *table) is_good = fill_in(member.value, values, reader) && is_good;
  }
  return is_good;
}

std::vector<RequestSettings> make_requests(const Capability& capability,
                                           const ParameterValues& values, Diagnostics& problems) {
  std::vector<RequestSettings> requests;
  const Reader reader{problems, capability.place.file, std::nullopt, "capability.request"};
  for (Node node : capability.requests) {
    if (!fill_in(node, values, reader)) continue;
    auto request = CapabilityRequestElement::read(node, reader);
    if (request) requests.push_back(std::move(*request));
  }
  return requests;
}

bool is_capability_name(std::string_view name) {
  const auto parts = split_words(name, ':');
  return parts.size() == 2 && name.size() <= 64 &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
             return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
           });
         });
}

constexpr std::array secret_fields{
    field<&SecretAdvice::header, Text::read>("header"),
    field<&SecretAdvice::format, Text::read>("format"),
    field<&SecretAdvice::basic_user, Text::read>("basic_user"),
    field<&SecretAdvice::agent_env, Text::read>("agent_env"),
};

std::optional<SecretAdvice> read_secret_advice(const Node& node, const Reader& reader) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table");
  SecretAdvice advice;
  for (const auto& member : *table) {
    if (!read_field(secret_fields, member, reader, advice)) {
      unknown_key(member, reader, names_of(secret_fields));
    }
  }
  return advice;
}

void read_parameters(const Node& node, const Reader& reader, Capability& capability) {
  const auto names = read_texts(node, reader);
  if (!names) return;
  for (const auto& name : *names) {
    const auto form = form_named(name);
    auto& all = capability.parameters;
    if (!form) {
      reader.error(node, in_quotes(name) + " is not a form of parameters",
                   "they are repository, location, image, model, name and refs");
    } else if (contains(all, *form)) {
      reader.error(node, in_quotes(name) + " is listed twice");
    } else {
      all.push_back(*form);
    }
  }
  const auto refs =
      std::find(capability.parameters.begin(), capability.parameters.end(), ParameterForm::refs);
  if (refs != capability.parameters.end() && refs + 1 != capability.parameters.end()) {
    reader.error(node, "refs is not the last parameter");
  }
}

void read_capability_key(const Member& member, const Reader& reader, Capability& capability) {
  const auto set = [](auto value, auto& to) {
    if (value) to = std::move(*value);
  };
  if (member.key == "name") {
    set(Text::read(member.value, reader), capability.name);
    if (!is_capability_name(capability.name)) {
      reader.error(member.value, in_quotes(capability.name) + " is not a name like github:read");
    }
  } else if (member.key == "about") {
    set(Text::read(member.value, reader), capability.about);
  } else if (member.key == "parameters") {
    read_parameters(member.value, reader, capability);
  } else if (member.key == "cannot_prevent") {
    set(read_texts(member.value, reader), capability.cannot);
  } else if (member.key == "clients") {
    set(read_texts(member.value, reader), capability.clients);
  } else if (member.key == "secret") {
    capability.secret = read_secret_advice(member.value, reader);
  } else if (member.key == "request") {
    const auto* list = member.value.as<Node::Array>();
    if (list == nullptr) {
      reader.wrong_type(member.value, "[[capability.request]]");
    } else {
      capability.requests = *list;
    }
  } else {
    unknown_key(member, reader,
                {"name", "about", "parameters", "cannot_prevent", "clients", "secret", "request"});
  }
}

// With sample parameters.
void try_requests(const Capability& capability, Diagnostics& problems) {
  ParameterValues values;
  for (const auto form : capability.parameters) {
    static_cast<void>(set_parameter(form, facts_of(form).sample, values));
  }
  static_cast<void>(make_requests(capability, values, problems));
}

void read_capability(const Node& node, Reader reader, std::vector<Capability>& all) {
  reader.key = "capability";
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) {
    reader.wrong_type(node, "a table, [[capability]]");
    return;
  }
  Capability capability;
  capability.place = reader.place(node.position);
  for (const auto& member : *table) {
    reader.key = "capability." + printable(member.key.substr(0, 64));
    read_capability_key(member, reader, capability);
  }
  reader.key = "capability";
  for (const auto& [name, is_missing] :
       {std::pair{"name", capability.name.empty()}, std::pair{"about", capability.about.empty()},
        std::pair{"request", capability.requests.empty()},
        std::pair{"cannot_prevent", capability.cannot.empty()}}) {
    if (is_missing) reader.error(node, std::string{name} + " is missing");
  }
  const bool is_taken = std::any_of(
      all.begin(), all.end(), [&](const Capability& one) { return one.name == capability.name; });
  if (is_taken) reader.error(node, in_quotes(capability.name) + " is taken");
  try_requests(capability, reader.problems);
  all.push_back(std::move(capability));
}

std::vector<std::string> files_in(const std::string& directory) {
  std::set<std::string> files;
  std::error_code failed;
  for (fs::directory_iterator at{directory, failed}; !failed && at != fs::directory_iterator{};
       at.increment(failed)) {
    const auto name = at->path().filename().string();
    if (at->path().extension() == ".toml" && !name.starts_with('.')) {
      files.insert(at->path().string());
    }
  }
  return {files.begin(), files.end()};
}

}  // namespace

std::string Capability::usage() const {
  std::string out = name;
  for (const auto form : parameters) out.append(" ").append(facts_of(form).for_people);
  return out;
}

Checked<std::vector<Capability>> parse_capabilities(std::string_view text,
                                                    const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.error();
  Diagnostics problems;
  std::vector<Capability> all;
  Reader reader{problems, file, std::nullopt, {}};
  for (const auto& member : std::get<Node::Table>(document->value)) {
    reader.key = printable(member.key.substr(0, 64));
    const auto* list = member.value.as<Node::Array>();
    if (member.key != "capability") {
      unknown_key(member, reader, {"capability"});
    } else if (list == nullptr) {
      reader.error(member.value, "a capability is written as [[capability]], with two brackets");
    } else {
      for (const auto& node : *list) read_capability(node, reader, all);
    }
  }
  if (problems.has_errors()) return problems;
  return all;
}

Result<std::vector<RequestSettings>> expand(const Capability& capability,
                                            const std::vector<std::string>& words) {
  const auto usage = [&] { return "; write " + in_quotes(capability.usage()); };
  if (words.size() < capability.parameters.size()) return Error{"a parameter is missing" + usage()};
  const bool has_refs =
      !capability.parameters.empty() && capability.parameters.back() == ParameterForm::refs;
  if (words.size() > capability.parameters.size() && !has_refs) {
    return Error{in_quotes(words[capability.parameters.size()]) + " is one parameter too many" +
                 usage()};
  }
  ParameterValues values;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto form = capability.parameters[std::min(at, capability.parameters.size() - 1)];
    if (auto set = set_parameter(form, words[at], values); !set) {
      return Error{set.error().message + usage()};
    }
  }
  Diagnostics problems;
  auto requests = make_requests(capability, values, problems);
  if (problems.has_errors()) return Error{problems.items().front().text()};
  return Result<std::vector<RequestSettings>>{boost::system::in_place_value, std::move(requests)};
}

Checked<Capabilities> Capabilities::load(const std::vector<std::string>& directories, uid_t owner) {
  Diagnostics problems;
  Capabilities all;
  for (const auto& directory : directories) {
    std::set<std::string> names;
    for (const auto& path : files_in(directory)) {
      const auto opened = open_trusted(path, owner);
      const auto text = opened ? read_all(opened->file.get(), max_file_bytes) : opened.error();
      if (!text) {
        problems.file_error(path, text.error().message);
        continue;
      }
      auto capabilities = parse_capabilities(*text, path);
      if (!capabilities) {
        problems.append(capabilities.error());
        continue;
      }
      for (auto& one : *capabilities) {
        if (!names.insert(one.name).second) {
          problems.error(one.place, "capability.name",
                         in_quotes(one.name) + " is taken by another file in this directory");
        }
        all.all_.insert_or_assign(one.name, std::move(one));
      }
    }
  }
  if (problems.has_errors()) return problems;
  return all;
}

const Capability* Capabilities::find(const std::string& name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : &found->second;
}

Result<std::vector<RequestSettings>> Capabilities::expand(std::string_view text) const {
  std::vector<std::string> words;
  for (const auto word : split_words(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (words.empty()) return Error{"the name of a capability is missing"};
  const std::string name = words.front();
  words.erase(words.begin());
  if (const auto* capability = find(name)) return config::expand(*capability, words);
  std::vector<std::string_view> known;
  for (const auto& [one, capability] : all_) known.push_back(one);
  const auto meant = nearest(name, known);
  return Error{
      "there is no capability " + in_quotes(name) +
      (meant.empty() ? "; stile can lists them" : "; did you mean " + std::string{meant} + '?')};
}

std::vector<std::string> capability_directories() {
  if (const char* chosen = ::secure_getenv("STILE_CAPABILITIES"); chosen != nullptr) {
    std::vector<std::string> directories;
    for (const auto one : split_words(chosen, ':')) {
      if (one.starts_with('/')) directories.emplace_back(one);
    }
    return directories;
  }
  const auto installed = fs::path{program_directory()}.parent_path() / "share/stile/capabilities";
  return {installed.string(), "/etc/stile/capabilities.d"};
}

void add_capability_files(const std::vector<std::string>& directories, Digest& digest) {
  for (const auto& directory : directories) {
    for (const auto& path : files_in(directory)) {
      const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
      const auto text = read_all(file.get(), max_file_bytes);
      digest.add(path,
                 text ? *text : "");  // one that cannot be read refuses the agents that use it
    }
  }
}

const Checked<Capabilities>& CapabilityFiles::get() {
  if (!loaded_) loaded_.emplace(Capabilities::load(capability_directories(), owner_));
  return *loaded_;
}

void CapabilityFiles::forget_failures() {
  if (loaded_ && !*loaded_) loaded_.reset();
}

std::vector<RequestSettings> all_requests(const AgentSettings& agent, CapabilityFiles& files,
                                          Diagnostics& problems) {
  auto all = agent.request;
  if (agent.can.empty()) return all;
  const auto& capabilities = files.get();
  if (!capabilities) {
    problems.append(capabilities.error());
    return all;
  }
  for (const auto& can : agent.can) {
    auto requests = capabilities->expand(can.text);
    if (!requests) {
      problems.error({agent.place.file, can.line, can.column}, "agent.can",
                     requests.error().message);
      continue;
    }
    for (auto& request : *requests) {
      request.host.line = can.line;
      all.push_back(std::move(request));
    }
  }
  return all;
}

}  // namespace stile::config
