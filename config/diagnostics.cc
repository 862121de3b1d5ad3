// Diagnostics: collects, sorts and prints problems.
#include "config/diagnostics.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace stile::config {
namespace {

std::string_view without_name(const std::string& file, std::string_view problem) {
  if (problem.starts_with(file + ' ')) problem.remove_prefix(file.size() + 1);
  return problem;
}

}  // namespace

std::string Diagnostic::text() const {
  std::string out = place.file;
  if (place.line > 0) out += ':' + std::to_string(place.line);
  if (place.column > 0) out += ':' + std::to_string(place.column);
  if (!out.empty()) out += ": ";
  if (severity == Severity::warning) out += "warning: ";
  if (!key.empty()) out += key + ": ";
  out += problem;
  if (!hint.empty()) out += "; " + hint;
  return out;
}

void Diagnostics::error(Place place, std::string key, std::string problem, std::string hint) {
  items_.push_back(
      {Severity::error, std::move(place), std::move(key), std::move(problem), std::move(hint)});
}

void Diagnostics::warning(Place place, std::string key, std::string problem, std::string hint) {
  items_.push_back(
      {Severity::warning, std::move(place), std::move(key), std::move(problem), std::move(hint)});
}

void Diagnostics::file_error(const std::string& file, std::string_view problem) {
  error({file, 0, 0}, "", std::string{without_name(file, problem)});
}

void Diagnostics::append(const Diagnostics& other) {
  items_.insert(items_.end(), other.items_.begin(), other.items_.end());
}

void Diagnostics::sort() {
  std::unordered_map<std::string, std::size_t> rank;
  for (const auto& item : items_) rank.emplace(item.place.file, rank.size());
  std::stable_sort(items_.begin(), items_.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    const auto rank_a = rank[a.place.file];
    const auto rank_b = rank[b.place.file];
    return std::tie(rank_a, a.place.line, a.place.column, a.key, a.problem) <
           std::tie(rank_b, b.place.line, b.place.column, b.key, b.problem);
  });
  items_.erase(std::unique(items_.begin(), items_.end()), items_.end());
}

std::size_t Diagnostics::error_count() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(items_.begin(), items_.end(),
                    [](const Diagnostic& item) { return item.severity == Severity::error; }));
}

std::string Diagnostics::text() const {
  std::string out;
  for (const auto& item : items_) out += item.text() + '\n';
  return out;
}

std::string about_file(const std::string& file, std::string_view problem) {
  return file + ": " + std::string{without_name(file, problem)};
}

}  // namespace stile::config
