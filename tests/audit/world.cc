// The shared parts of the tests.
#include "tests/audit/world.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "audit/line.h"
#include "tests/audit/schema.h"

namespace stile::audit {
namespace {

std::string make_folder() {
  std::string name = testing::TempDir() + "stile-audit-XXXXXX";
  return ::mkdtemp(name.data()) == nullptr ? std::string{} : name;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

void append_file(const std::string& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary | std::ios::app} << bytes;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

Record open_record(std::uint64_t conn) {
  Record record;
  record.event = Event::open;
  record.time_us = 1'794'819'600'000'000;
  record.agent = "alpha";
  record.src = "10.200.0.2:40312";
  record.conn = conn;
  record.method = "CONNECT";
  record.host = "api.github.com";
  record.port = 443;
  record.verdict = acl::Verdict::allow;
  record.rule = "api.github.com (/etc/stile/stile.toml:12)";
  record.status = 200;
  record.origin = "140.82.121.6";
  record.sni = "api.github.com";
  record.policy = 3;
  return record;
}

Record close_record(std::uint64_t conn) {
  Record record = open_record(conn);
  record.event = Event::close;
  record.bytes_up = 517;
  record.bytes_down = 16464;
  record.duration_ms = 842;
  return record;
}

Record deny_record(std::string_view host) {
  Record record = open_record(0);
  record.event = Event::deny;
  record.host = host;
  record.verdict = acl::Verdict::deny;
  record.reason = acl::Reason::host_not_allowed;
  record.rule = record.origin = record.sni = {};
  record.status = 403;
  return record;
}

Verified verify_files(const std::vector<std::string>& files, std::string head) {
  std::ostringstream out, err;
  const int status = verify(files, VerifyOptions{std::move(head)}, out, err);
  return {status, out.str(), err.str()};
}

AuditWorld::AuditWorld() : folder_{make_folder()}, log_path_{path("audit.jsonl")} {}
AuditWorld::~AuditWorld() { std::filesystem::remove_all(folder_); }

void AuditWorld::TearDown() {
  Line parsed;
  std::size_t left = 2000;  // of the few tests that write more, the beginning is enough
  for (const auto& entry : std::filesystem::directory_iterator{folder_}) {
    for (const std::string& line : lines_of(entry.path())) {
      if (left == 0 || read_line(line, parsed) != LineKind::whole) continue;
      --left;
      EXPECT_EQ(schema_violation(line), "");
    }
  }
}

std::unique_ptr<Log> AuditWorld::open_log(Log::Options options) const {
  if (options.path == "-") options.path = log_path_;
  auto log = Log::open(std::move(options));
  if (!log) {
    ADD_FAILURE() << log.error().message;
    return nullptr;
  }
  return std::move(*log);
}

std::size_t AuditWorld::write(Log& log, const std::vector<Record>& records, Format format) {
  Batch batch{format};
  for (const Record& record : records) batch.add(record);
  return log.write(batch);
}

}  // namespace stile::audit
