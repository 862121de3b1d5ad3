// Bus: a connection to a systemd manager, and its calls as messages.
#include "units/bus.h"

#include "base/system_error.h"

namespace stile::units {
namespace {

using Clock = std::chrono::steady_clock;

// sd-bus keeps its first failure, and sealing the message reports it, so that single results are
// not checked here.
struct Append {
  sd_bus_message* message;

  void operator()(bool value) const {
    sd_bus_message_append(message, "v", "b", static_cast<int>(value));
  }
  void operator()(std::uint64_t value) const { sd_bus_message_append(message, "v", "t", value); }
  void operator()(const std::string& value) const {
    sd_bus_message_append(message, "v", "s", value.c_str());
  }
  void operator()(const std::vector<std::string>& values) const {
    sd_bus_message_open_container(message, 'v', "as");
    add_texts(values);
    sd_bus_message_close_container(message);
  }
  void operator()(const std::vector<std::uint32_t>& values) const {
    sd_bus_message_open_container(message, 'v', "au");
    sd_bus_message_append_array(message, 'u', values.data(), values.size() * sizeof values[0]);
    sd_bus_message_close_container(message);
  }
  void operator()(const Bytes& value) const {
    sd_bus_message_open_container(message, 'v', "ay");
    sd_bus_message_append_array(message, 'y', value.bytes.data(), value.bytes.size());
    sd_bus_message_close_container(message);
  }
  void operator()(const std::vector<Exec>& commands) const {
    sd_bus_message_open_container(message, 'v', "a(sasb)");
    sd_bus_message_open_container(message, 'a', "(sasb)");
    for (const auto& command : commands) {
      sd_bus_message_open_container(message, 'r', "sasb");
      sd_bus_message_append(message, "s", command.words.front().c_str());
      add_texts(command.words);
      sd_bus_message_append(message, "b", static_cast<int>(command.may_fail));
      sd_bus_message_close_container(message);
    }
    sd_bus_message_close_container(message);
    sd_bus_message_close_container(message);
  }

  void add_texts(const std::vector<std::string>& values) const {
    sd_bus_message_open_container(message, 'a', "s");
    for (const auto& value : values) sd_bus_message_append(message, "s", value.c_str());
    sd_bus_message_close_container(message);
  }
};

struct AwaitedJob {
  std::string path, result;
};

int note_job(sd_bus_message* message, void* userdata, sd_bus_error*) {
  auto& awaited = *static_cast<AwaitedJob*>(userdata);
  std::uint32_t id = 0;
  const char* path = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) >= 0 &&
      awaited.path == path) {
    awaited.result = result;
  }
  return 0;
}

Result<void> wait_for(sd_bus& bus, const AwaitedJob& job, std::chrono::milliseconds longest) {
  const auto end = Clock::now() + longest;
  while (job.result.empty()) {
    const int done = sd_bus_process(&bus, nullptr);
    if (done < 0) return bus_error("the connection to systemd is lost", done);
    if (done > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
    if (left.count() <= 0) return Error{"systemd does not answer"};
    const int waited = sd_bus_wait(&bus, static_cast<std::uint64_t>(left.count()));
    if (waited < 0 && waited != -EINTR) return bus_error("cannot wait for systemd", waited);
  }
  if (job.result != "done") return Error{"systemd's job ended with: " + job.result};
  return {};
}

}  // namespace

Error bus_error(const std::string& what, int code, const sd_bus_error* error) {
  const bool has_text = error != nullptr && error->message != nullptr;
  return Error{what + ": " + (has_text ? error->message : error_text(code < 0 ? -code : code))};
}

Result<BusPtr> open_bus(Whose whose) {
  sd_bus* bus = nullptr;
  const int opened = whose == Whose::user ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);
  if (opened < 0) return bus_error("cannot connect to systemd's bus", opened);
  BusPtr owned{bus};
  sd_bus_error error{};
  const int subscribed = sd_bus_call_method(bus, manager_name, manager_path, manager_interface,
                                            "Subscribe", &error, nullptr, "");
  auto problem = bus_error("systemd cannot be asked", subscribed, &error);
  sd_bus_error_free(&error);
  if (subscribed < 0) return problem;
  return Result<BusPtr>{boost::system::in_place_value, std::move(owned)};
}

Result<MessagePtr> start_call(sd_bus& bus, const Unit& unit) {
  sd_bus_message* message = nullptr;
  const int made = sd_bus_message_new_method_call(&bus, &message, manager_name, manager_path,
                                                  manager_interface, "StartTransientUnit");
  if (made < 0) return bus_error("cannot make a message", made);
  MessagePtr owned{message};
  sd_bus_message_append(message, "ss", unit.name.c_str(), "fail");
  sd_bus_message_open_container(message, 'a', "(sv)");
  for (const auto& property : unit.properties) {
    sd_bus_message_open_container(message, 'r', "sv");
    sd_bus_message_append(message, "s", property.name.c_str());
    std::visit(Append{message}, property.value);
    sd_bus_message_close_container(message);
  }
  sd_bus_message_close_container(message);
  const int done = sd_bus_message_append(message, "a(sa(sv))", 0);
  if (done < 0) return bus_error("cannot describe the unit " + unit.name, done);
  return Result<MessagePtr>{boost::system::in_place_value, std::move(owned)};
}

Result<void> start_scope(sd_bus& bus, const Unit& unit, std::chrono::milliseconds longest) {
  AwaitedJob job;
  sd_bus_slot* slot = nullptr;
  const int matched = sd_bus_match_signal(&bus, &slot, manager_name, manager_path,
                                          manager_interface, "JobRemoved", note_job, &job);
  if (matched < 0) return bus_error("cannot follow systemd's jobs", matched);
  const std::unique_ptr<sd_bus_slot, decltype(&sd_bus_slot_unref)> match{slot, sd_bus_slot_unref};
  const auto call = start_call(bus, unit);
  if (!call) return call.error();
  sd_bus_error error{};
  sd_bus_message* answer = nullptr;
  const auto limit = std::chrono::duration_cast<std::chrono::microseconds>(longest);
  const int called =
      sd_bus_call(&bus, call->get(), static_cast<std::uint64_t>(limit.count()), &error, &answer);
  const MessagePtr owned{answer};
  auto problem = bus_error("systemd refuses " + unit.name, called, &error);
  sd_bus_error_free(&error);
  if (called < 0) return problem;
  const char* path = nullptr;
  const int read = sd_bus_message_read(answer, "o", &path);
  if (read < 0) return bus_error("systemd's answer cannot be read", read);
  job.path = path;
  return wait_for(bus, job, longest);
}

}  // namespace stile::units
