// PolicyEditor, handing over: its state is at rest while another process reads it.
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "control/policy_editor.h"
#include "proxy/base/log.h"

namespace stile::control {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::chrono::seconds quiet_within{5};
constexpr std::chrono::milliseconds look_again{2};

}  // namespace

void PolicyEditor::freeze(std::function<void(bool)> done) {
  await_quiet(std::move(done), steady_clock::now() + quiet_within);
}

// What is in force must be on disk, and no reading may end later.
void PolicyEditor::await_quiet(std::function<void(bool)> done, steady_clock::time_point until) {
  const bool is_quiet = !is_saving_ && !must_save_ && !cannot_save_ && pending_.empty() &&
                        !is_reading_ && reloads_.empty() && fleet_changes_.empty();
  if (is_quiet) {
    is_frozen_ = true;
    // The state of a fleet is written by the same thread, and may be under way.
    asio::post(saver_,
               [this, done = std::move(done)] { asio::post(context_, [done] { done(true); }); });
    return;
  }
  if (steady_clock::now() >= until) return done(false);
  quiet_.expires_after(look_again);
  quiet_.async_wait([this, done = std::move(done), until](const boost::system::error_code& ec) {
    if (!ec) await_quiet(done, until);
  });
}

void PolicyEditor::thaw() {
  is_frozen_ = false;
  expire();
  if (must_save_) save();
  start_reading();
  schedule_expiry();
}

void PolicyEditor::leave(std::function<void()> refill) {
  refill_elsewhere_ = std::move(refill);
  retry_.cancel();
  refill_signal_.ask();
}

void PolicyEditor::follow(std::string digest, std::function<void(bool)> done) {
  asio::post(reader_,
             [this, digest = std::move(digest), done = std::move(done), layer = fleet_.layer] {
               auto base = std::make_shared<FilePolicyPtr>();
               try {
                 auto read = read_file_policy(read_, layer);
                 if (read && (*read)->loaded.digest == digest) *base = std::move(*read);
               } catch (const std::exception& problem) {
                 log::error(problem.what());
               }
               asio::post(context_, [this, base, done] {
                 const bool is_read = *base != nullptr;
                 if (is_read) {
                   retire(policy_.rebase(std::move(*base)));
                   daemon_.publish(new_snapshot());
                   schedule_expiry();
                 }
                 done(is_read);
               });
             });
}

}  // namespace stile::control
