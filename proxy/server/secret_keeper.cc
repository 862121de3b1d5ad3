// SecretKeeper: the values of secrets over reloads, and commands that are run again in time.
#include "proxy/server/secret_keeper.h"

#include <strings.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/unix_time.h"
#include "proxy/base/log.h"

namespace stile::server {
namespace {

constexpr std::int64_t second_us = 1'000'000;
constexpr std::int64_t longest_retry_us = 10 * second_us;
// A value whose command fails is used this many times as long as it should be.
constexpr std::int64_t longest_use = 2;

std::int64_t retry_us(std::int64_t refresh_us) {
  return std::clamp(refresh_us / 4, second_us, longest_retry_us);
}

}  // namespace

SecretKeeper::~SecretKeeper() {
  {
    const std::lock_guard lock{mutex_};
    is_ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> SecretKeeper::start_helper(const config::Secrets& secrets) {
  std::vector<SecretHelper::Command> commands;
  for (const auto& [name, entry] : secrets.all()) {
    if (!entry.settings.command.empty()) commands.push_back(entry.settings.command);
  }
  if (commands.empty()) return {};
  auto started = SecretHelper::start(std::move(commands));
  if (!started) return started.error();
  helper_ = std::move(*started);
  return {};
}

Result<std::string> SecretKeeper::value_of(const std::vector<std::string>& command) {
  auto text = helper_->run(command);
  if (!text) return text;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (auto good = acl::check_secret_value(*text); !good) {
    ::explicit_bzero(text->data(), text->size());
    return Error{command[0] + ": " + good.error().message};
  }
  return text;
}

void SecretKeeper::fill(const config::Secrets& secrets, config::Diagnostics& problems) {
  for (const auto& [name, entry] : secrets.all()) {
    const auto& command = entry.settings.command;
    const auto& value = entry.secret->value;
    if (!command.empty() && !(helper_ && helper_->knows(command))) {
      problems.error(entry.settings.place, "secret.command",
                     "changed, but only a restart applies this",
                     "restart stiled, or undo the change");
      continue;
    }
    Held made{name, command, std::int64_t{entry.settings.refresh.count()} * second_us, value};
    {
      const std::lock_guard lock{mutex_};
      forget_old();
      for (const Held& before : held_) {
        const auto known = before.value.lock();
        if (!known || before.name != name) continue;
        value->note_use(known->used_us());
        const auto bytes = known->get(), own = value->get();
        const bool is_same = bytes && (command.empty() ? own && own->view() == bytes->view()
                                                       : before.command == command);
        if (!is_same) continue;
        value->set(bytes->view(), known->changed_us());
        made.got_us = before.got_us;
      }
    }
    if (!command.empty() && !value->get()) {
      auto text = value_of(command);
      if (!text) {
        problems.error(entry.settings.place, "secret." + name, text.error().message);
        continue;
      }
      made.got_us = unix_micros();
      value->set(*text, made.got_us);
      ::explicit_bzero(text->data(), text->size());
    }
    made.due_us = made.got_us + made.refresh_us;
    const std::lock_guard lock{mutex_};
    held_.push_back(std::move(made));
  }
  changed_.notify_all();
}

void SecretKeeper::forget_old() {
  std::erase_if(held_, [](const Held& held) { return held.value.expired(); });
}

void SecretKeeper::start() {
  if (helper_) thread_ = std::thread{[this] { run(); }};
}

const SecretKeeper::Held* SecretKeeper::find_due() const {
  const Held* first = nullptr;
  for (const Held& held : held_) {
    if (held.command.empty() || held.refresh_us == 0) continue;
    if (first == nullptr || held.due_us < first->due_us) first = &held;
  }
  return first;
}

void SecretKeeper::run() {
  std::unique_lock lock{mutex_};
  while (!is_ended_) {
    forget_old();
    const Held* due = find_due();
    if (due == nullptr) {
      changed_.wait(lock);
    } else if (const auto wait_us = due->due_us - unix_micros(); wait_us > 0) {
      changed_.wait_for(lock, std::chrono::microseconds{wait_us});
    } else {
      const Held copy = *due;
      lock.unlock();
      try {
        run_again(copy);
      } catch (const std::exception& problem) {
        log::error("secret " + copy.name + ": " + problem.what());
      }
      lock.lock();
    }
  }
}

// Without the lock while the command runs. All configs with this command get the value.
void SecretKeeper::run_again(const Held& due) {
  auto text = value_of(due.command);
  const auto now_us = unix_micros();
  bool has_ended = false;
  {
    const std::lock_guard lock{mutex_};
    for (Held& held : held_) {
      const auto value = held.value.lock();
      if (!value || held.name != due.name || held.command != due.command) continue;
      if (text) {
        held.got_us = now_us;
        held.due_us = now_us + held.refresh_us;
        const auto old = value->get();
        if (!old || old->view() != *text) value->set(*text, now_us);
      } else {
        held.due_us = now_us + retry_us(held.refresh_us);
        const bool is_over = now_us > held.got_us + longest_use * held.refresh_us;
        has_ended = has_ended || is_over;
        if (is_over) value->clear();
      }
    }
  }
  if (text) {
    ::explicit_bzero(text->data(), text->size());
  } else {
    log::error("secret " + due.name + ": " + text.error().message +
               (has_ended ? "; its old value has ended, and requests that need it are refused"
                          : "; its old value stays in use"));
  }
}

}  // namespace stile::server
