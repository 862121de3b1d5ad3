// report: the findings of `check`, for people, for programs, for Prometheus.
#include "netns/report.h"

#include <algorithm>

#include "base/json.h"
#include "base/table.h"

namespace stile::netns {
namespace {

// Names of agents and probes have only letters, digits and hyphens: a label needs no escapes.
std::string sample(const std::string& name, const std::string& labels, std::uint64_t value) {
  return name + (labels.empty() ? "" : "{" + labels + "}") + " " + std::to_string(value) + "\n";
}

std::string label(const std::string& name, const std::string& value) {
  return name + "=\"" + value + "\"";
}

std::string head(const std::string& name, const std::string& type, const std::string& help) {
  return "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

}  // namespace

std::string report_table(const CheckReport& report) {
  Table table{{{"AGENT"}, {"PROBE"}, {"EXPECTED"}, {"GOT"}, {""}}};
  for (const auto& row : report.rows) {
    table.add({row.agent, row.probe, row.expected, row.got, row.is_good ? "ok" : "FAILED"});
  }
  std::string text = table.text();
  const auto failed = std::count_if(report.rows.begin(), report.rows.end(),
                                    [](const CheckRow& row) { return !row.is_good; });
  if (failed == 0) return text;
  text += std::to_string(failed) + " of " + std::to_string(report.rows.size()) + " checks FAILED\n";
  return text.append(report.is_fence_whole() ? "  next: stile doctor\n"
                                             : "  next: stile-netns repair\n");
}

std::string report_json(const CheckReport& report) {
  std::string text =
      std::string{"{\"ok\":"} + (report.is_good() ? "true" : "false") + ",\"rows\":[";
  const char* separator = "\n ";
  for (const auto& row : report.rows) {
    text += separator;
    text += "{\"agent\":" + json_text(row.agent) + ",\"probe\":" + json_text(row.probe) +
            ",\"expected\":" + json_text(row.expected) + ",\"got\":" + json_text(row.got) +
            ",\"ok\":" + (row.is_good ? "true" : "false") + "}";
    separator = ",\n ";
  }
  return text + "]}\n";
}

std::string report_metrics(const CheckReport& report, std::int64_t unix_seconds) {
  std::string text = head("stile_fence_whole", "gauge",
                          "1 if every part of the fence is in place and every probe was stopped.");
  text += sample("stile_fence_whole", "", report.is_fence_whole() ? 1 : 0);
  text += head("stile_fence_probe_ok", "gauge", "1 if the probe ended as it should.");
  for (const auto& row : report.rows) {
    text +=
        sample("stile_fence_probe_ok", label("agent", row.agent) + "," + label("probe", row.probe),
               row.is_good ? 1 : 0);
  }
  text += head("stile_fence_packets_total", "counter",
               "Packets from an agent's device, by what became of them.");
  for (const auto& counts : report.counts) {
    const auto agent = label("agent", counts.agent);
    text += sample("stile_fence_packets_total", agent + "," + label("verdict", "passed"),
                   counts.passed.packets);
    text += sample("stile_fence_packets_total", agent + "," + label("verdict", "refused"),
                   counts.refused.packets);
  }
  text += head("stile_fence_last_check_timestamp_seconds", "gauge", "When this check was made.");
  text += sample("stile_fence_last_check_timestamp_seconds", "",
                 static_cast<std::uint64_t>(unix_seconds));
  return text;
}

}  // namespace stile::netns
