// Exposition: formats numbers as the text that Prometheus reads; hides prometheus-cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/metrics/tally.h"

namespace stile::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Exposition {
 public:
  Exposition();
  ~Exposition();
  Exposition(const Exposition&) = delete;
  Exposition& operator=(const Exposition&) = delete;

  // Calls with the same name make one family of series.
  void counter(std::string_view name, std::string_view help, double value, Labels labels = {});
  void gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  void histogram(std::string_view name, std::string_view help, const ConnectTimes& times) {
    histogram(name, help, ConnectTimes::bounds, times.counts, times.sum);
  }
  // One count more than there are bounds: the last is for what is above all of them.
  void histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);
  // CPU seconds, resident and virtual memory, descriptors, start time.
  void process();

  [[nodiscard]] std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stile::metrics
