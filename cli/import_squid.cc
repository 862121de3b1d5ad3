// stile import-squid: converts a squid.conf to stile.toml.
#include <iostream>
#include <memory>
#include <string>

#include "cli/command_list.h"
#include "squid/conf.h"
#include "squid/to_toml.h"

namespace stile::cli {
namespace {

int import_squid(const std::string& file) {
  config::Digest digest;
  const auto conf = squid::parse(file, squid::disk_files(digest));
  if (!conf) {
    std::cerr << conf.error().text();
    return failed;
  }
  const auto toml = squid::to_toml(*conf);
  if (!toml) {
    std::cerr << toml.error().text()
              << "stile-squid takes this squid.conf as it is; see docs/migrating-from-squid.md\n";
    return failed;
  }
  std::cerr << conf->warnings.text();
  std::cout << *toml;
  return fine;
}

}  // namespace

void add_import_squid(Command& stile) {
  auto file = std::make_shared<std::string>();
  auto command =
      stile.add("import-squid", "print the stile.toml that means the same as a squid.conf");
  command.word("FILE", *file, "the squid.conf").required();
  command.examples(
      "Names each rule that stile.toml cannot express, and fails then.\n\n"
      "Example:\n"
      "  stile import-squid /etc/squid/squid.conf > stile.toml && stile check stile.toml");
  command.does([file] { return import_squid(*file); });
}

}  // namespace stile::cli
