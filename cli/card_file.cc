// card_file: the text of a card that is named on the command line.
#include "cli/card_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "cli/command.h"

namespace stile::cli {
namespace {

// More than the daemon and the spawner accept, so that they report what is too large.
constexpr std::size_t max_bytes = 1 << 20;

}  // namespace

CommandOutcome<std::string> read_card(const std::string& path) {
  const bool is_input = path == "-";
  const std::string name = is_input ? "standard input" : path;
  const UniqueFd file{is_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto text = file ? read_all(file.get(), max_bytes) : Error{error_text(errno)};
  if (!text) {
    return CommandFailure{failed, "config-error",
                          "cannot read the card: " + name + ": " + text.error().message,
                          is_input ? "" : "ls -l " + shell_word(path)};
  }
  if (!Json::parse(*text).is_object()) {
    return CommandFailure{failed, "config-error", name + " is not a JSON object",
                          is_input ? "" : "jq . " + shell_word(path)};
  }
  return CommandOutcome<std::string>{boost::system::in_place_value, *text};
}

}  // namespace stile::cli
