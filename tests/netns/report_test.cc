// report and lists: tables, JSON and metrics.
#include "netns/report.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "config/json_loader.h"
#include "netns/list.h"

namespace stile::netns {
namespace {

CheckReport sample() {
  return {{{"-", "table", "whole", "whole", true},
           {"alpha", "gateway-icmp", "refused", "left through \"x\"", false}},
          {{"alpha", {3, 180}, {5, 300}}}};
}

TEST(NetnsReport, IsGoodOnlyIfEveryRowIs) {
  auto report = sample();
  EXPECT_FALSE(report.is_good());
  report.rows.pop_back();
  EXPECT_TRUE(report.is_good());
}

TEST(NetnsReport, TableNamesProbeExpectedAndGot) {
  EXPECT_EQ(report_table(sample()),
            "AGENT  PROBE         EXPECTED  GOT\n"
            "-      table         whole     whole             ok\n"
            "alpha  gateway-icmp  refused   left through \"x\"  FAILED\n"
            "1 of 2 checks FAILED\n"
            "  next: stile-netns repair\n");
}

TEST(NetnsReport, TableOfAWholeFenceWithoutADaemonNamesAnotherWayOut) {
  auto report = sample();
  report.rows.back().is_of_fence = false;
  EXPECT_TRUE(report_table(report).ends_with("1 of 2 checks FAILED\n  next: stile doctor\n"));
  report.rows.pop_back();
  EXPECT_EQ(report_table(report),
            "AGENT  PROBE  EXPECTED  GOT\n-      table  whole     whole  ok\n");
}

TEST(NetnsReport, JsonIsReadableAndSaysTheSame) {
  const auto parsed = config::parse_json(report_json(sample()), "report");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_NE(report_json(sample()).find("\"ok\":false,\"rows\""), std::string::npos);
  EXPECT_NE(report_json(sample()).find("left through \\\"x\\\""), std::string::npos);
}

TEST(NetnsReport, MetricsHaveHelpTypeAndOneSamplePerProbe) {
  EXPECT_EQ(
      report_metrics(sample(), 1'794'816'000),
      "# HELP stile_fence_whole 1 if every part of the fence is in place and every probe was "
      "stopped.\n"
      "# TYPE stile_fence_whole gauge\n"
      "stile_fence_whole 0\n"
      "# HELP stile_fence_probe_ok 1 if the probe ended as it should.\n"
      "# TYPE stile_fence_probe_ok gauge\n"
      "stile_fence_probe_ok{agent=\"-\",probe=\"table\"} 1\n"
      "stile_fence_probe_ok{agent=\"alpha\",probe=\"gateway-icmp\"} 0\n"
      "# HELP stile_fence_packets_total Packets from an agent's device, by what became of them.\n"
      "# TYPE stile_fence_packets_total counter\n"
      "stile_fence_packets_total{agent=\"alpha\",verdict=\"passed\"} 3\n"
      "stile_fence_packets_total{agent=\"alpha\",verdict=\"refused\"} 5\n"
      "# HELP stile_fence_last_check_timestamp_seconds When this check was made.\n"
      "# TYPE stile_fence_last_check_timestamp_seconds gauge\n"
      "stile_fence_last_check_timestamp_seconds 1794816000\n");
}

TEST(NetnsList, TableOfNobodySaysSo) { EXPECT_EQ(list_table({}), "no agent has a namespace\n"); }

TEST(NetnsList, JsonOfNobodyIsAnEmptyArray) { EXPECT_EQ(list_json({}), "[]\n"); }

}  // namespace
}  // namespace stile::netns
