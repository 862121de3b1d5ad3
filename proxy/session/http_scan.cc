// HttpExchange: what a body is held for: a GraphQL query of step 11, and step 13, the search
// through all that a request carries.
#include <algorithm>

#include "base/ascii.h"
#include "proxy/http/chunked.h"
#include "proxy/http/fields.h"
#include "proxy/http/forward.h"
#include "proxy/http/graphql.h"
#include "proxy/session/http_exchange.h"
#include "scan/search.h"

namespace stile::session {
namespace {

// A body is held until it is clean up to here. What follows is cut where something is found.
constexpr std::size_t most_held = 64 * 1024;
// Of a WebSocket message with the heads of its frames.
constexpr std::size_t most_held_frames = 2 * most_held;
// Beyond that, this much is not sent before more was looked at: no key is longer. Secrets can be.
constexpr std::size_t least_held_back = 1024;
// A smaller piece waits for the next one: with each the overlap is looked at again.
constexpr std::size_t least_piece = 1024;

constexpr scan::Found always =
    scan::bit_of(scan::secrets_number) | scan::bit_of(scan::placeholders_number);

// The codings that the head declares, in lower case, separated by commas.
std::string declared_codings(const http::RequestHead& head) {
  std::string codings;
  for (const http::Field& field : head.fields) {
    if (!equal_ignoring_case(field.name, "content-encoding")) continue;
    if (!codings.empty()) codings += ',';
    codings += lower_case(field.value);
  }
  return codings;
}

scan::Search::Of search_of(const std::string& codings) {
  using Of = scan::Search::Of;
  if (codings.find("gzip") != std::string::npos) return Of::gzip_body;
  return codings.find("deflate") != std::string::npos ? Of::deflate_body : Of::body;
}

bool comes_before(const http::Field* a, const http::Field* b) {
  return std::lexicographical_compare(a->name.begin(), a->name.end(), b->name.begin(),
                                      b->name.end(),
                                      [](char x, char y) { return to_lower(x) < to_lower(y); });
}

// The values of fields that occur several times, joined: they may be one text.
std::string joined_values(const std::vector<http::Field>& fields) {
  std::vector<const http::Field*> sorted;
  sorted.reserve(fields.size());
  for (const http::Field& field : fields) sorted.push_back(&field);
  std::stable_sort(sorted.begin(), sorted.end(), comes_before);
  std::string joined;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!equal_ignoring_case(sorted[i - 1]->name, sorted[i]->name)) continue;
    if (joined.empty() || joined.back() == '\n') joined += sorted[i - 1]->value;
    joined += sorted[i]->value;
    const bool is_last =
        i + 1 == sorted.size() || !equal_ignoring_case(sorted[i]->name, sorted[i + 1]->name);
    if (is_last) joined += '\n';
  }
  return joined;
}

bool is_named(const std::vector<std::string>& lower_case_names, std::string_view name) {
  return std::any_of(lower_case_names.begin(), lower_case_names.end(),
                     [&](const std::string& one) { return equal_ignoring_case(one, name); });
}

}  // namespace

// Writes down what was found. None: the request goes on.
HttpExchange::Reason HttpExchange::judge_found(scan::Found found, std::string_view place) {
  const scan::ScanRules& rules = scanned_by_->rules();
  const scan::Found fresh = found & ~scan_found_;
  if (fresh != 0) {
    if (!request_.scan_place.empty()) request_.scan_place += ", ";
    request_.scan_place.append("in ").append(place);
    for (std::size_t number = 0; number < scan::first_number + rules.scans().size(); ++number) {
      if ((fresh & scan::bit_of(number)) == 0) continue;
      ++client_.peer.tally->scan_hits[std::string{rules.name_of(number)}];
    }
    scan_found_ |= fresh;
    request_.scan = rules.names(scan_found_);
  }
  const bool is_trial = request_.judged_by->mode == acl::Mode::observe;
  const scan::Found refusing = rules.refusing(found, is_trial);
  if (refusing == 0) return Reason::none;
  return refusing == scan::bit_of(scan::placeholders_number) ? Reason::placeholder_misplaced
                                                             : Reason::secret_found;
}

HttpExchange::Reason HttpExchange::judge_search(std::string_view place) {
  const Reason found = judge_found(search_->found(), place);
  if (found != Reason::none) return found;
  if (search_->is_too_dense()) return Reason::body_too_large;
  if (!search_->is_unreadable()) return Reason::none;
  request_.head_fault = "the body is not in the coding that its head declares";
  return Reason::bad_request;
}

// A large body takes long, so other connections go first after each step. What may be sent then has
// to be decided after this: the request may have been cancelled meanwhile.
Task<> HttpExchange::look_through(scan::Search& search, std::string_view text,
                                  scan::Search::More more) {
  scan::Steps steps = search.begin(text, more);
  while (steps.go_on()) {
    client_.stream.socket().read_later();
    co_await client_.stream.socket().readable();
  }
}

// The head and what is held of the body, under the policy in force. It may be another one when this
// returns.
Task<HttpExchange::Reason> HttpExchange::scan_held() {
  const auto watch = request_.judged_by->watch;
  if (scanned_by_ != watch) {
    scanned_by_ = watch;
    search_.reset();
    control_search_.reset();
    scanned_ = 0;
    is_clean_ = false;
    // The numbers of the scans mean others now.
    scan_found_ = 0;
    request_.scan.clear();
    request_.scan_place.clear();
    request_.hides_method = request_.hides_path = false;
    if (!watch) co_return Reason::none;
    scan_texts_ = watch->texts();
    const Reason reason = scan_head();
    if (reason != Reason::none) co_return reason;
    const std::string codings = declared_codings(head_);
    // One in another would be read one deep, and each origin reads an unusual list differently.
    if (head_.framing != http::Framing::none && codings.find(',') != std::string::npos) {
      request_.head_fault = "several content codings cannot be looked through; use one";
      co_return Reason::bad_request;
    }
    search_.emplace(scan_texts_, search_of(codings));
    if (wants_websocket_) control_search_.emplace(scan_texts_, scan::Search::Of::head);
    if (head_.framing != http::Framing::none) {
      const Reason in_body = co_await scan_held_body();
      if (in_body != Reason::none) co_return in_body;
    }
  }
  // In observe mode the line says what would have become of it.
  if (watch && request_.decision.verdict == acl::Verdict::allow &&
      request_.judged_by->mode == acl::Mode::observe &&
      watch->rules().refusing(scan_found_, false) != 0) {
    request_.decision.verdict = acl::Verdict::would_deny;
    request_.decision.reason = Reason::secret_found;
  }
  co_return Reason::none;
}

HttpExchange::Reason HttpExchange::scan_head() {
  const auto target = parse_target();
  const std::vector<http::Field> fields = http::passed_fields(head_, strip_);
  // A credential header that the operator keeps may carry a credential, but not one of Stile's.
  static const std::vector<std::string> nothing;
  const acl::RequestRule* rule = request_.decision.terms.rule;
  const auto& kept = rule != nullptr ? rule->keep_headers : nothing;
  const std::string line = request_.method + ' ' + std::string{target->path_and_query};
  const std::string joined = joined_values(fields);
  std::string all = line + '\n', of_kept;
  for (const http::Field& field : fields) {
    std::string& text = is_named(kept, field.name) ? of_kept : all;
    text.append(field.name).append(": ").append(field.value).append("\n");
  }
  all += joined;
  bool is_too_dense = false;
  const auto find = [&](std::string_view text) {
    const scan::Findings findings = scan::find_in(scan_texts_, text);
    is_too_dense = is_too_dense || findings.is_too_dense;
    return findings.found;
  };
  scan::Found found = find(all);
  if (!of_kept.empty()) found |= find(of_kept) & always;
  if (found == 0 && is_too_dense) {
    request_.hides_method = request_.hides_path = true;  // what they say is not known
    request_.head_fault = "the head is compressed so much that it cannot be looked through";
    return Reason::bad_request;
  }
  if (found == 0) return Reason::none;
  // Rare: find out where.
  Reason reason = Reason::none;
  const auto judge = [&](scan::Found here, std::string_view place) {
    if (here != 0 && reason == Reason::none) reason = judge_found(here, place);
  };
  const scan::Found in_line = find(line);
  request_.hides_path = in_line != 0;
  request_.hides_method =
      in_line != 0 && (find(request_.method) != 0 || find(target->path_and_query) == 0);
  judge(in_line, "the request line");
  for (const http::Field& field : fields) {
    const scan::Found here = find(std::string{field.name}.append(": ").append(field.value)) &
                             (is_named(kept, field.name) ? always : ~scan::Found{0});
    // Its name may be what was found.
    const bool is_name = here != 0 && find(field.name) != 0;
    judge(here, is_name ? "the name of a header" : "header " + std::string{field.name});
  }
  judge(found & ~scan_found_, "the headers");
  if (reason != Reason::none || !is_too_dense) return reason;
  request_.head_fault = "the head is compressed so much that it cannot be looked through";
  return Reason::bad_request;
}

HttpExchange::HeldBody HttpExchange::held_body(std::string& joined) const {
  const std::string_view input = std::string_view{client_.in}.substr(client_.head_bytes);
  if (head_.framing == http::Framing::length) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(head_.content_length, input.size()));
    return {input.substr(0, size), size == head_.content_length};
  }
  if (head_.framing == http::Framing::none) return {{}, true};
  http::ChunkedDecoder decoder = body_decoder_;
  joined = held_chunks_;
  auto step = decoder.next(input);
  for (std::size_t used = 0; step.kind == http::ChunkedDecoder::Step::Kind::data;) {
    joined += step.data;
    used += step.consumed;
    step = decoder.next(input.substr(used));
  }
  return {joined, step.kind == http::ChunkedDecoder::Step::Kind::end};
}

// Step 11 of a request that may only ask.
HttpExchange::Reason HttpExchange::judge_query() {
  if (!request_.decision.terms.needs_query) return Reason::none;
  bool is_json = false;
  for (const http::Field& field : head_.fields) {
    // An encoded body, or one of another type, would be read differently by the origin. Some take
    // Content_Type for the field, too.
    if (http::equals_folded(field.name, "content-encoding")) return Reason::method_not_allowed;
    if (!http::equals_folded(field.name, "content-type")) continue;
    if (is_json || field.name.find('_') != std::string_view::npos) {
      return Reason::method_not_allowed;
    }
    is_json = equal_ignoring_case(field.value, "application/json") ||
              equal_ignoring_case(field.value, "application/json; charset=utf-8") ||
              equal_ignoring_case(field.value, "application/json;charset=utf-8");
    if (!is_json) return Reason::method_not_allowed;
  }
  std::string joined;
  const HeldBody body = held_body(joined);
  if (!body.is_whole) return Reason::body_too_large;
  const std::string_view fault =
      is_json ? http::fault_of_graphql(body.text) : "the body is not JSON";
  request_.query_fault = fault;
  return fault.empty() ? Reason::none : Reason::method_not_allowed;
}

Task<HttpExchange::Reason> HttpExchange::scan_held_body() {
  std::string joined;
  const auto [body, is_whole] = held_body(joined);
  is_clean_ = is_whole;
  scanned_ = body.size();
  using More = scan::Search::More;
  if (!body.empty()) co_await look_through(*search_, body, is_clean_ ? More::no : More::yes);
  co_return judge_search("the body");
}

// Moves what came of a chunked body out of the client's buffer, up to the end of the body.
http::ChunkedDecoder::Step::Kind HttpExchange::take_chunks(std::string& to) {
  std::size_t used = 0;
  for (;;) {
    const auto step = body_decoder_.next(std::string_view{client_.in}.substr(used));
    used += step.consumed;
    if (step.kind != http::ChunkedDecoder::Step::Kind::data) {
      client_.in.erase(0, used);
      return step.kind;
    }
    to += step.data;
  }
}

// Reads the body as far as it is held. The bytes stay in the client's buffer; of chunks only their
// data is kept, since their lines can be a thousand times as long.
Task<HttpExchange::Reason> HttpExchange::hold_body() {
  if (head_.framing == http::Framing::none) co_return Reason::none;
  const bool is_chunked = head_.framing == http::Framing::chunked;
  if (is_chunked && client_.head_bytes > 0) keep_head();
  bool has_continued = push_.has_value();  // then it has its 100 already
  for (;;) {
    std::size_t held = 0;
    bool is_whole = false;
    if (is_chunked) {
      const auto kind = take_chunks(held_chunks_);
      if (kind == http::ChunkedDecoder::Step::Kind::bad) co_return Reason::bad_request;
      is_whole = kind == http::ChunkedDecoder::Step::Kind::end;
      held = held_chunks_.size();
    } else {
      held = client_.in.size() - client_.head_bytes;
      is_whole = held >= head_.content_length;
    }
    if (is_whole || held >= most_held) break;
    if (client_.head_bytes > 0) keep_head();
    if (head_.expects_continue && !has_continued) {
      has_continued = true;
      const bool sent = co_await client_.send("HTTP/1.1 100 Continue\r\n\r\n");
      if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
    }
    client_.set_deadline(client_.context.limits.idle_timeout, Reason::idle_timeout);
    const bool more = co_await read_in_turn();
    if (!more) co_return client_.cancelled_or(Reason::bad_request);
  }
  client_.clear_deadline();
  co_return Reason::none;
}

// Looks at the next piece of the body. From then on so many bytes of held_back_ may be sent.
Task<HttpExchange::Reason> HttpExchange::scan_piece(std::string_view data, bool is_end,
                                                    std::size_t& clean) {
  const std::size_t known = std::min(scanned_, data.size());
  scanned_ -= known;
  using More = scan::Search::More;
  fresh_ += data.size() - known;
  held_back_ += data;
  if (fresh_ >= least_piece || (is_end && fresh_ > 0)) {
    const std::string_view fresh = std::string_view{held_back_}.substr(held_back_.size() - fresh_);
    co_await look_through(*search_, fresh, is_end ? More::no : More::yes);
    fresh_ = 0;
  }
  const Reason found = judge_search("the body");
  if (found != Reason::none) co_return found;
  const std::size_t kept = is_end ? 0 : fresh_ + std::max(least_held_back, scan_texts_->longest());
  clean = held_back_.size() - std::min(held_back_.size(), kept);
  co_return Reason::none;
}

// Looks at the next frames and turns them into what may be sent now.
Task<HttpExchange::Reason> HttpExchange::scan_frames(std::string& bytes) {
  std::string data, control;
  if (!frames_.feed(bytes, data, control)) co_return Reason::bad_request;
  burst_ += scan::Search::overlap;  // is looked at again, however little arrived
  using More = scan::Search::More;
  if (!data.empty()) co_await look_through(*search_, data, More::yes);
  Reason found = judge_search("the WebSocket");
  if (found != Reason::none) co_return found;
  if (!control.empty()) {
    co_await look_through(*control_search_, control, More::yes);
    if (control_search_->is_too_dense()) co_return Reason::body_too_large;
    found = judge_found(control_search_->found(), "the WebSocket");
    if (found != Reason::none) co_return found;
  }
  hold_frames(bytes, data.size());
  co_return held_back_.size() <= most_held_frames ? Reason::none : Reason::body_too_large;
}

// A message is held as a body is: until it is whole and clean, up to a bound; then its end is,
// until enough came after it. What is held is counted by its payload: frames can be empty.
void HttpExchange::hold_frames(std::string& bytes, std::size_t payload_bytes) {
  const std::size_t rest = bytes.size() - frames_.whole_bytes();
  const bool has_end = frames_.whole_bytes() > 0;
  held_back_ += bytes;
  if (has_end) {  // all but the beginning of the next message
    bytes.assign(held_back_, 0, held_back_.size() - rest);
    held_back_.erase(0, bytes.size());
    held_pieces_.clear();
    message_bytes_ = 0;
    payload_bytes = std::min(payload_bytes, rest);
  } else {
    bytes.clear();
  }
  if (rest == 0) return;
  message_bytes_ += payload_bytes;
  if (held_pieces_.empty() || held_pieces_.back().bytes >= least_piece) {
    held_pieces_.emplace_back();
  }
  held_pieces_.back().bytes += rest;
  held_pieces_.back().payload_bytes += payload_bytes;
  if (message_bytes_ <= most_held) return;
  const std::size_t kept = std::max(least_held_back, scan_texts_->longest());
  std::size_t payload = 0;
  for (const HeldPiece& piece : held_pieces_) payload += piece.payload_bytes;
  std::size_t free = 0;
  while (payload - held_pieces_.front().payload_bytes >= kept) {
    payload -= held_pieces_.front().payload_bytes;
    free += held_pieces_.front().bytes;
    held_pieces_.pop_front();
  }
  bytes.append(held_back_, 0, free);
  held_back_.erase(0, free);
}

}  // namespace stile::session
