// stile send, stile logs: start a task of a worker, and read what a worker wrote.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "base/joined.h"
#include "base/quoted.h"
#include "base/terminal.h"
#include "cli/command_list.h"
#include "cli/spawner_client.h"

namespace stile::cli {
namespace {

struct SendOptions {
  SpawnerOptions spawner;
  std::string id;
  std::vector<std::string> words;
  bool no_wait = false;
};

struct LogsOptions {
  SpawnerOptions spawner;
  std::string id, run;
  bool follow = false;
};

std::string problem_of_number(const std::string& text) {
  const bool is_number = !text.empty() && text.size() < 19 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? "" : "not a number";
}

// A worker chooses these bytes: what could control the terminal is left out.
void show_piece(const Json& piece, const SpawnerOptions& options) {
  if (options.json) {
    std::cout << dump(piece) << std::endl;
    return;
  }
  if (const auto missed = number_of(piece, "missed"); missed > 0) {
    std::cerr << "stile: " << missed << " bytes are no longer kept\n";
  }
  std::cout << without_controls(text_of(piece, "output")) << std::flush;
}

// The files that the task changed, on one line.
void show_files(const Json& last) {
  constexpr std::size_t most_names = 8;
  const auto& files = list_of(last, "files").items();
  if (files.empty()) return;
  std::cerr << "stile: changed";
  for (std::size_t i = 0; i < std::min(files.size(), most_names); ++i) {
    std::cerr << (i == 0 ? " " : ", ") << printable(text_of(files[i], "name"));
  }
  if (files.size() > most_names) std::cerr << " and " << files.size() - most_names << " more files";
  std::cerr << '\n';
}

int follow(const SpawnerOptions& options, const FollowedTask& task) {
  const auto last =
      follow_output(options, task, [&](const Json& piece) { show_piece(piece, options); });
  if (!last) return print_failure(last.error(), options.json);
  if (!options.json) show_files(last->json);
  const auto status = text_of(last->json, "status");
  if (status == "running" || status == "completed") return fine;
  if (!options.json) {
    std::cerr << "stile: the task " << status << ", exit status "
              << text_of(last->json, "exit_status") << '\n';
  }
  return failed;
}

int run_send(const SendOptions& options) {
  const auto message = joined(options.words, " ") + '\n';
  const auto answer = ask_spawner(
      options.spawner, {{"action", "run"}, {"task_id", options.id}, {"message", message}});
  if (!answer) return print_failure(answer.error(), options.spawner.json);
  if (options.no_wait) {
    if (options.spawner.json) {
      std::cout << dump(answer->json) << '\n';
    } else {
      std::cout << options.id << " runs task " << text_of(answer->json, "run")
                << "\n  next: stile logs -f " << options.id << '\n';
    }
    return fine;
  }
  return follow(options.spawner, {options.id, text_of(answer->json, "run"), true});
}

}  // namespace

void add_send(Command& stile) {
  auto options = std::make_shared<SendOptions>();
  auto command = stile.add("send", "start a task of a worker, and show what it writes");
  command.word("WORKER", options->id, "its id").required();
  command.words("MESSAGE", options->words, "the message, which the task reads as its input")
      .required();
  command.flag("--no-wait", options->no_wait, "return as soon as it runs");
  add_spawner_options(command, options->spawner);
  command.examples(
      "Examples:\n"
      "  stile send alpha fix the tests\n"
      "  stile send alpha --no-wait \"write a summary\"\n"
      "Ends with 1 if the task fails or is canceled.");
  command.does([options] { return run_send(*options); });
}

void add_logs(Command& stile) {
  auto options = std::make_shared<LogsOptions>();
  auto command = stile.add("logs", "print what a worker's task has written");
  command.word("WORKER", options->id, "its id").required();
  command.flag("-f,--follow", options->follow, "until the task ends");
  command.option("--task", options->run, "its number (default: the latest; 0: the command)")
      .check(problem_of_number);
  add_spawner_options(command, options->spawner);
  command.examples(
      "Examples:\n  stile logs alpha\n  stile logs -f alpha\n  stile logs alpha --task 1");
  command.does([options] {
    return follow(options->spawner, {options->id, options->run, options->follow});
  });
}

}  // namespace stile::cli
