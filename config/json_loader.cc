// JSON text to Node, through nlohmann's event parser.
#include "config/json_loader.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/quoted.h"

namespace stile::config {
namespace {

constexpr std::size_t max_members = 1024;

// An iterator that counts how far the parser has read: its events carry no place.
class Cursor {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor() = default;
  Cursor(const char* at, const char** furthest) : at_{at}, furthest_{furthest} {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *furthest_ = std::max(*furthest_, ++at_);
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }

 private:
  const char* at_ = nullptr;
  const char** furthest_ = nullptr;
};

// Builds the tree from the parser events.
class Builder {
 public:
  using Exception = nlohmann::detail::exception;

  Builder(std::string_view text, std::string file)
      : text_{text}, file_{std::move(file)}, furthest_{text.data()}, token_end_{text.data()} {}

  bool null() { return add(Unusable{"null"}); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value > most) return add(Unusable{"an integer that is too large"});
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& /*raw*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }  // never occurs in text
  bool start_object(std::size_t /*size*/) { return open(Node::Table{}); }
  bool start_array(std::size_t /*size*/) { return open(Node::Array{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    const Position position = token_position();
    auto& frame = frames_.back();
    const auto& table = std::get<Node::Table>(frame.node.value);
    const auto same = std::find_if(table.begin(), table.end(),
                                   [&](const Member& member) { return member.key == name; });
    if (table.size() == max_members) {  // the search for duplicate keys takes quadratic time
      fail(position, "", "too many keys in one object");
      return false;
    }
    if (same != table.end()) {
      fail(position, printable(name), "appears twice",
           "the first one is in line " + std::to_string(same->position.line));
    }
    frame.key = name;
    frame.key_position = position;
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& /*token*/, const Exception& error) {
    const std::string_view what = error.what();
    const auto from = what.find("syntax error");
    fail(position_of(std::min(offset > 0 ? offset - 1 : 0, text_.size())), "",
         printable(from == std::string_view::npos ? "not JSON" : what.substr(from)));
    return false;
  }

  Checked<Node> parse() {
    const char* const end = text_.data() + text_.size();
    try {
      nlohmann::json::sax_parse(Cursor{text_.data(), &furthest_}, Cursor{end, &furthest_}, this);
    } catch (const std::exception& error) {  // no memory
      fail({}, "", std::string{"cannot be parsed: "} + error.what());
    }
    if (!root_ && !problems_.has_errors()) fail({}, "", "not JSON");
    if (problems_.has_errors()) return problems_;
    return std::move(*root_);
  }

 private:
  struct Frame {
    Node node;
    std::string key;
    Position key_position;
  };

  // A token begins at the first byte after the previous token that is not a separator. Called once
  // per token.
  Position token_position() {
    const char* start = token_end_;
    while (start < furthest_ &&
           std::string_view{" \t\r\n,:"}.find(*start) != std::string_view::npos) {
      ++start;
    }
    token_end_ = furthest_;
    return position_of(static_cast<std::size_t>(start - text_.data()));
  }

  // Offsets mostly grow, so counting lines is linear over the whole text.
  Position position_of(std::size_t offset) {
    if (offset < counted_) {
      counted_ = line_start_ = 0;
      line_ = 1;
    }
    for (; counted_ < offset; ++counted_) {
      if (text_[counted_] == '\n') {
        ++line_;
        line_start_ = counted_ + 1;
      }
    }
    return {line_, static_cast<std::uint32_t>(offset - line_start_ + 1)};
  }

  bool add(decltype(Node::value) value) { return attach(Node{std::move(value), token_position()}); }

  bool open(decltype(Node::value) value) {
    const Position position = token_position();
    if (frames_.size() == max_json_depth) {
      fail(position, "", "nested too deep");
      return false;
    }
    frames_.push_back({Node{std::move(value), position}, {}, {}});
    return true;
  }

  bool close() {
    token_end_ = furthest_;
    Node done = std::move(frames_.back().node);
    frames_.pop_back();
    return attach(std::move(done));
  }

  bool attach(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
    } else if (auto& frame = frames_.back();
               auto* list = std::get_if<Node::Array>(&frame.node.value)) {
      list->push_back(std::move(node));
    } else {
      std::get<Node::Table>(frame.node.value)
          .push_back({std::move(frame.key), frame.key_position, std::move(node)});
    }
    return true;
  }

  void fail(Position position, std::string key, std::string problem, std::string hint = {}) {
    problems_.error({file_, position.line, position.column}, std::move(key), std::move(problem),
                    std::move(hint));
  }

  std::string_view text_;
  std::string file_;
  const char* furthest_;
  const char* token_end_;
  std::size_t counted_ = 0;  // bytes whose line breaks are counted
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::vector<Frame> frames_;
  std::optional<Node> root_;
  Diagnostics problems_;
};

}  // namespace

Checked<Node> parse_json(std::string_view text, const std::string& file) {
  return Builder{text, file}.parse();
}

Node json_or_null(std::string_view text) {
  auto parsed = parse_json(text, "");
  return parsed ? std::move(*parsed) : Node{};
}

}  // namespace stile::config
