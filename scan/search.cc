// Search: looks through one text that arrives in pieces, as it was sent and decoded.
#include "scan/search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "scan/bits.h"
#include "scan/decode.h"

namespace stile::scan {
namespace {

// Real data compresses to a twentieth or so; a text that hides behind megabytes of zeros to a
// thousandth.
constexpr std::uint64_t most_density = 64;
constexpr std::uint64_t always_decoded = std::uint64_t{1} << 20U;
constexpr std::uint64_t always_decoded_of_head = std::uint64_t{64} << 10U;
constexpr std::uint64_t cost_of_beginning = 64;
constexpr std::size_t longest_gzip_head = 1024;
constexpr std::size_t least_decoded = 8;  // the shortest secret

// How much of a beginning is at the end of one piece, if the next one goes on with it.
std::size_t begun_at_end(std::string_view before, std::string_view piece) {
  for (const std::size_t size : {std::size_t{2}, std::size_t{1}}) {
    if (before.ends_with(gzip_start.substr(0, size)) &&
        piece.starts_with(gzip_start.substr(size))) {
      return size;
    }
  }
  return 0;
}

}  // namespace

Search::Search(std::shared_ptr<const Texts> texts, Of of)
    : texts_{std::move(texts)},
      budget_{std::make_shared<Budget>(
          Budget{of == Of::head ? always_decoded_of_head : always_decoded})},
      is_declared_{of == Of::gzip_body || of == Of::deflate_body},
      is_inflating_{is_declared_} {
  if (!is_declared_) return;
  using Format = Inflate::Format;
  inflate_ =
      std::make_unique<Inflate>(of == Of::gzip_body ? Format::gzip_or_zlib : Format::deflate);
}

Search::Search(std::shared_ptr<const Texts> texts, std::shared_ptr<Budget> budget, unsigned depth)
    : texts_{std::move(texts)}, budget_{std::move(budget)}, depth_{depth} {}

Search::Stop Search::after(std::size_t bytes) noexcept {
  budget_->in_step += bytes;
  if (budget_->in_step < step_bytes) return {false};
  budget_->in_step = 0;
  return {true};
}

Steps Search::begin(std::string_view piece, More more) {
  if (depth_ == 0) budget_->received += piece.size();
  co_await follow_compressed(piece, more);
  std::string joined;
  std::string_view text = piece;
  if (!tail_.empty()) {
    joined.swap(tail_);
    text = joined.append(piece);
  }
  embedded_left_ = std::clamp<std::uint64_t>(most_density * text.size(), always_decoded_of_head,
                                             budget_->always);
  // The compressed bytes themselves are looked at, too: a header can lie.
  co_await look(text, 0);
  if (more == More::no) co_return;
  const std::size_t kept = std::max(overlap, texts_->longest());
  tail_ = text.substr(whole_group_before(text, text.size() - std::min(text.size(), kept)));
}

void Search::charge(std::uint64_t bytes) {
  budget_->used += bytes;
  if (budget_->used > budget_->always + most_density * budget_->received) is_too_dense_ = true;
}

// The overlap of pieces is decoded again with each: so there is a bound for each piece. Inside of
// compressed data the bound of all layers counts, too.
void Search::charge_embedded(std::uint64_t bytes) {
  if (depth_ > 0) charge(bytes);
  if (bytes > embedded_left_) is_too_dense_ = true;
  embedded_left_ -= std::min(bytes, embedded_left_);
}

void Search::begin_gzip() {
  if (inflate_) {
    inflate_->begin_again();
  } else {
    inflate_ = std::make_unique<Inflate>(Inflate::Format::gzip);
  }
  is_inflating_ = begins_member_ = true;
  silent_bytes_ = 0;
  charge(cost_of_beginning);
}

// Follows compressed data from where it begins, over any number of pieces. The work is bounded by
// what is charged for it.
Steps Search::follow_compressed(std::string_view piece, More more) {
  if (is_unreadable_ || depth_ == most_layers) co_return;
  std::string_view rest_after;
  if (!is_inflating_) {
    if (const std::size_t begun = begun_at_end(tail_, piece); begun > 0) {
      begin_gzip();
      co_await unpack(gzip_start.substr(0, begun), rest_after);
    }
  }
  while (!is_too_dense_) {
    const bool begins_here = !is_inflating_;
    if (begins_here) {
      piece.remove_prefix(find_gzip_start(piece, 0));
      if (piece.empty()) break;
      begin_gzip();
    }
    co_await unpack(piece, rest_after);
    // A head that does not end may be there to hide what follows.
    const std::size_t most_silent = more == More::no ? 0 : longest_gzip_head;
    if (!is_declared_ && silent_bytes_ > most_silent) is_inflating_ = false;
    if (is_inflating_) break;
    is_unreadable_ = is_declared_;
    if (is_unreadable_) break;
    // It was none, or something else follows it.
    if (rest_after.size() == piece.size() && begins_here) {
      piece.remove_prefix(1);
    } else {
      piece = rest_after;
    }
  }
  if (!inflated_) co_return;
  found_ |= inflated_->found();
  is_too_dense_ = is_too_dense_ || inflated_->is_too_dense();
}

// `rest_after` is then what follows the last member that ended.
Steps Search::unpack(std::string_view rest, std::string_view& rest_after) {
  rest_after = rest;
  while (!is_too_dense_) {
    std::string_view decoded;
    const std::size_t before = rest.size();
    const auto state = inflate_->decode(rest, decoded);
    const std::size_t bytes = before - rest.size() + decoded.size();
    charge(bytes);
    co_await after(bytes);
    silent_bytes_ = decoded.empty() ? silent_bytes_ + before - rest.size() : 0;
    if (!decoded.empty()) {
      if (!inflated_) inflated_.reset(new Search{texts_, budget_, depth_ + 1});
      co_await inflated_->begin(decoded);
      // Another file may begin here, and with it a word.
      if (std::exchange(begins_member_, false)) co_await inflated_->look(decoded, 0);
    }
    is_inflating_ = state != Inflate::State::is_bad;
    if (state == Inflate::State::has_ended) {
      rest_after = rest;
      begins_member_ = true;
      silent_bytes_ = 0;
    }
    if (!is_inflating_ || (rest.empty() && decoded.size() < Inflate::step)) break;
  }
}

Steps Search::look_once(std::string_view text) {
  found_ |= texts_->rules().match(text);
  SeedPhrases phrases{text};
  for (std::size_t from = 0; from < text.size(); from += step_bytes) {
    const std::size_t bytes = std::min(step_bytes, text.size() - from);
    work_ += bytes;
    found_ |= texts_->look_at(text, from, from + bytes, phrases);
    co_await after(bytes);
  }
}

Steps Search::look(std::string_view text, unsigned layer) {
  co_await look_once(text);
  // What arrived was followed from piece to piece.
  if (layer > 0) co_await look_at_gzip_in(text, layer);
  std::array<Bytes, 2> rooms;
  bool may_have_escapes = true;
  for (unsigned round = 0; round < most_unescapes && may_have_escapes; ++round) {
    const auto plain = unescape(text, rooms[round % 2]);
    if (!plain) break;
    text = plain->text;
    may_have_escapes = plain->may_have_more;
    co_await look_once(text);
    // Each time: bytes of compressed data can look like escapes, too.
    co_await look_at_gzip_in(text, layer);
  }
  if (layer >= most_layers) co_return;
  std::string decoded;
  append_decoded_runs(text, texts_->least_text(), decoded);
  if (decoded.size() >= least_decoded) co_await look(decoded, layer + 1);
}

Steps Search::look_at_gzip_in(std::string_view text, unsigned layer) {
  if (layer > most_layers) co_return;
  std::size_t at = find_gzip_start(text, 0);
  while (at < text.size() && !is_too_dense_) {
    if (embedded_) {
      embedded_->begin_again();
    } else {
      embedded_ = std::make_unique<Inflate>(Inflate::Format::gzip);
    }
    charge_embedded(cost_of_beginning);
    std::string_view rest = text.substr(at), step;
    std::string decoded;
    std::size_t next = at + 1;
    for (auto state = Inflate::State::goes_on; state != Inflate::State::is_bad && !is_too_dense_;) {
      const std::size_t before = rest.size();
      state = embedded_->decode(rest, step);
      const std::size_t bytes = before - rest.size() + step.size();
      charge_embedded(bytes);
      decoded += step;
      co_await after(bytes);
      if (state == Inflate::State::has_ended) next = text.size() - rest.size();
      if (rest.empty() && step.size() < Inflate::step) break;
    }
    if (!decoded.empty()) co_await look(decoded, layer + 1);
    at = find_gzip_start(text, next);
  }
}

Findings find_in(const std::shared_ptr<const Texts>& texts, std::string_view text) {
  Search search{texts, Search::Of::head};
  search.feed(text, Search::More::no);
  return {search.found(), search.is_too_dense()};
}

}  // namespace stile::scan
