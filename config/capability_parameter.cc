// The parameters of capabilities.
#include "config/capability_parameter.h"

#include <algorithm>
#include <array>

#include "acl/git_push.h"
#include "acl/pattern.h"
#include "base/ascii.h"
#include "base/quoted.h"

namespace stile::config {
namespace {

constexpr std::size_t max_parameter_bytes = 200;

constexpr std::array forms{
    ParameterFacts{ParameterForm::repository, "repository", "OWNER/NAME", "acme/app"},
    ParameterFacts{ParameterForm::location, "location", "HOST/PATH", "git.example/acme/app"},
    ParameterFacts{ParameterForm::image, "image", "IMAGE", "library/alpine"},
    ParameterFacts{ParameterForm::model, "model", "NAME", "acme/model"},
    ParameterFacts{ParameterForm::name, "name", "NAME", "app"},
    ParameterFacts{ParameterForm::refs, "refs", "REF...", "refs/heads/agent/*"},
};

// Neither `*`, `%` and `/` nor a segment of dots: these would change which paths a pattern covers.
bool is_word(std::string_view segment) {
  return has_only(segment, "._-") && segment.find_first_not_of('.') != std::string_view::npos;
}

enum class Star : std::uint8_t { never, last };

// A star can be a whole last segment, if there is one before it.
bool are_words(const std::vector<std::string_view>& segments, Star star) {
  const bool ends_in_star = star == Star::last && segments.size() > 1 && segments.back() == "*";
  return std::all_of(segments.begin(), segments.end() - (ends_in_star ? 1 : 0), is_word);
}

bool is_host(std::string_view text) {
  const auto pattern = acl::Pattern::parse(text);
  return pattern && pattern->kind == acl::Pattern::Kind::exact &&
         (pattern->reach == acl::Pattern::Reach::bare ||
          pattern->reach == acl::Pattern::Reach::tunnel);
}

Result<void> set_location(std::string_view text, ParameterValues& values) {
  const auto slash = text.find('/');
  const auto host = text.substr(0, slash);
  auto path = slash == std::string_view::npos ? std::string_view{} : text.substr(slash + 1);
  if (path.ends_with(".git")) path.remove_suffix(4);  // both spellings are covered
  if (!is_host(host) || !are_words(split_words(path, '/'), Star::last)) {
    return Error{in_quotes(text) + " is not a host and a path like github.com/acme/app"};
  }
  values["host"] = host;
  values["path"] = path;
  return {};
}

}  // namespace

const ParameterFacts& facts_of(ParameterForm form) noexcept {
  return forms[static_cast<std::size_t>(form)];
}

std::optional<ParameterForm> form_named(std::string_view name) noexcept {
  const auto found = std::find_if(forms.begin(), forms.end(),
                                  [name](const ParameterFacts& one) { return one.name == name; });
  return found == forms.end() ? std::nullopt : std::optional{found->form};
}

Result<void> set_parameter(ParameterForm form, std::string_view text, ParameterValues& values) {
  if (text.size() > max_parameter_bytes) return Error{"a parameter is longer than 200 bytes"};
  const auto segments = split_words(text, '/');
  const auto set = [&](bool is_good, const char* like) -> Result<void> {
    if (!is_good) return Error{in_quotes(text) + " is not " + like};
    values[std::string{facts_of(form).name}] = text;
    return {};
  };
  switch (form) {
    case ParameterForm::location:
      return set_location(text, values);
    case ParameterForm::repository:
      return set(segments.size() == 2 && are_words(segments, Star::last),
                 "an owner and a name like acme/app or acme/*");
    case ParameterForm::image:
      return set(segments.size() == 2 && are_words(segments, Star::never),
                 "an image of Docker Hub like acme/app, or library/alpine for an official one");
    case ParameterForm::model:
      return set(segments.size() <= 2 && are_words(segments, Star::never),
                 "the name of a model or dataset like acme/model");
    case ParameterForm::refs: {
      const auto pattern = acl::RefPattern::parse(text);
      if (!pattern) return pattern.error();
      auto& all = values["refs"];
      all.append(all.empty() ? "" : " ").append(text);
      return {};
    }
    case ParameterForm::name:
      break;
  }
  return set(segments.size() == 1 && are_words(segments, Star::never),
             "one word of letters, digits and . _ -");
}

std::vector<std::string_view> split_words(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace stile::config
