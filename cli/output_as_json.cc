// said: prints a command's output as JSON for programs.
#include "cli/output_as_json.h"

#include <iostream>
#include <sstream>
#include <string>

#include "base/json_value.h"

namespace stile::cli {
namespace {

Json lines_of(const std::string& text) {
  Json lines = Json::list();
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.add(line);
  }
  return lines;
}

}  // namespace

int print_as_json(const std::function<int(std::ostream& out, std::ostream& err)>& tell) {
  std::ostringstream out, err;
  const int status = tell(out, err);
  const Json said{
      {"ok", status == 0}, {"said", lines_of(out.str())}, {"problems", lines_of(err.str())}};
  std::cout << dump(said) << '\n';
  return status;
}

}  // namespace stile::cli
