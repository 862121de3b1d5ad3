// Exposition: formats numbers as the text that Prometheus reads.
#include "proxy/metrics/exposition.h"

#include <dirent.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace stile::metrics {

struct Exposition::Impl {
  prometheus::ClientMetric& add(std::string_view name, std::string_view help,
                                prometheus::MetricType type, Labels&& labels) {
    if (families.empty() || families.back().name != name) {
      auto found = families.begin();
      while (found != families.end() && found->name != name) ++found;
      if (found == families.end()) {
        prometheus::MetricFamily family;
        family.name = name;
        family.help = help;
        family.type = type;
        families.push_back(std::move(family));
      } else {
        std::rotate(found, found + 1, families.end());
      }
    }
    auto& metric = families.back().metric.emplace_back();
    for (auto& [key, value] : labels) {
      metric.label.push_back({std::move(key), std::move(value)});
    }
    return metric;
  }
  std::vector<prometheus::MetricFamily> families;
};

Exposition::Exposition() : impl_{std::make_unique<Impl>()} {}
Exposition::~Exposition() = default;

void Exposition::counter(std::string_view name, std::string_view help, double value,
                         Labels labels) {
  impl_->add(name, help, prometheus::MetricType::Counter, std::move(labels)).counter.value = value;
}

void Exposition::gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  impl_->add(name, help, prometheus::MetricType::Gauge, std::move(labels)).gauge.value = value;
}

void Exposition::histogram(std::string_view name, std::string_view help,
                           std::span<const double> bounds, std::span<const std::uint64_t> counts,
                           double sum) {
  auto& histogram = impl_->add(name, help, prometheus::MetricType::Histogram, {}).histogram;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({total, bound});
  }
  histogram.sample_count = total;
  histogram.sample_sum = sum;
}

void Exposition::process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  counter("process_cpu_seconds_total", "User and system CPU time spent, in seconds.",
          seconds(usage.ru_utime) + seconds(usage.ru_stime));

  // Field 22 of stat is the start in ticks since boot; the name before it may contain any byte.
  std::ifstream stat{"/proc/self/stat"};
  std::string line;
  std::getline(stat, line);
  std::istringstream fields{line.substr(line.rfind(')') + 1)};
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  timespec now{}, since_boot{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const double boot = static_cast<double>(now.tv_sec - since_boot.tv_sec);
  gauge("process_start_time_seconds", "When the process began, in seconds since the epoch.",
        boot + std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK)));

  std::ifstream statm{"/proc/self/statm"};
  double virtual_pages = 0, resident_pages = 0;
  statm >> virtual_pages >> resident_pages;
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", virtual_pages * page);
  gauge("process_resident_memory_bytes", "Resident memory size in bytes.", resident_pages * page);

  double descriptors = -3;  // ".", ".." and the one that reads the directory
  if (DIR* directory = ::opendir("/proc/self/fd"); directory != nullptr) {
    while (::readdir(directory) != nullptr) ++descriptors;
    ::closedir(directory);
    gauge("process_open_fds", "Open file descriptors.", descriptors);
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    gauge("process_max_fds", "Most file descriptors that may be open.",
          static_cast<double>(files.rlim_cur));
  }
}

std::string Exposition::text() const {
  return prometheus::TextSerializer{}.Serialize(impl_->families);
}

}  // namespace stile::metrics
