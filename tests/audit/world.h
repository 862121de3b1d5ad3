// What the tests of the audit log share: a folder of their own, records, and short ways to verify.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "audit/verify.h"

namespace stile::audit {

[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view bytes);
void append_file(const std::string& path, std::string_view bytes);
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path);

[[nodiscard]] Record open_record(std::uint64_t conn);
[[nodiscard]] Record close_record(std::uint64_t conn);
[[nodiscard]] Record deny_record(std::string_view host);

struct Verified {
  int status = 0;
  std::string out, err;
};
[[nodiscard]] Verified verify_files(const std::vector<std::string>& files, std::string head = {});

// A folder that is gone after the test. The JSON lines that are left in it then must be as the
// schema says.
class AuditWorld : public testing::Test {
 protected:
  AuditWorld();
  ~AuditWorld() override;
  void TearDown() override;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Opens folder/audit.jsonl, with the options changed as the caller likes.
  [[nodiscard]] std::unique_ptr<Log> open_log() const { return open_log(Log::Options{}); }
  [[nodiscard]] std::unique_ptr<Log> open_log(Log::Options options) const;
  // Writes these records as one batch.
  static std::size_t write(Log& log, const std::vector<Record>& records,
                           Format format = Format::json);

  const std::string folder_;
  const std::string log_path_;
};

}  // namespace stile::audit
