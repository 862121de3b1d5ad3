// Fuzzes whole connections: clients and origins that send, stop, reset and wait, DNS servers that
// lie, policies that change, disks that fill up, against the real session code.
//
// The input is a list of moves, see Play::move; what must hold is in World.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/connection_pieces.h"
#include "tests/fuzz/connection_world.h"

namespace {

using namespace stile::fuzz;
using std::chrono::milliseconds;

constexpr std::size_t max_bytes = 256 * 1024;  // that a play sends in all

class Play final : public World {
 public:
  explicit Play(std::string_view script) : script_{script} {}

 private:
  bool move() override {
    if (pending_.first != nullptr) {
      send(std::exchange(pending_.first, nullptr), pending_.second);
      return true;
    }
    if (script_.empty()) return false;
    make(byte());
    return true;
  }

  void make(std::uint8_t kind) {
    static constexpr std::array waits{1, 30, 260, 999, 2001, 10001, 60001, 100};
    static constexpr std::array dials{0, EINPROGRESS, ECONNREFUSED, ETIMEDOUT};
    End* const to_client = origin() != nullptr ? &origin()->end : nullptr;
    switch (kind % 21) {
      case 0:
        return send(&client(), bytes());
      case 1:
        return send_cut(&client(), client_piece(byte()));
      case 2:
        return client().stop_sending();
      case 3:
        return client().fd.reset();
      case 4:
        return send(to_client, bytes());
      case 5:
        return send_cut(to_client, origin_piece(byte()));
      case 6:
        return to_client != nullptr ? to_client->stop_sending() : void();
      case 7:
        return to_client != nullptr ? to_client->fd.reset() : void();
      case 8:
        return pass(milliseconds{waits[byte() % waits.size()]});
      case 9:
        return change_policy(byte());
      case 10:
        disk = one_of<Disk>();
        return;
      case 11:
        return set_dial_result(dials[byte() % dials.size()]);
      case 12:
        return open_client();
      case 13:
        return choose_client(byte());
      case 14:
        return choose_origin(byte());
      case 15:
        return let_clients_read(byte() % 2 == 0);
      case 16:
        return drain();
      case 17:
        return send(&client(), std::string(byte() * 64U, 'x'));
      case 18:
        return send(to_client, std::string(byte() * 64U, 'y'));
      case 19:
        return answer_question(one_of<DnsAnswer>());
      default:
        return send(&client(), client_piece(byte()));
    }
  }

  void change_policy(std::uint8_t how) {
    const auto stages = static_cast<std::uint8_t>(Stage::count);
    World::change_policy(static_cast<Stage>(how % stages), how < 128 ? Round::now : Round::later);
  }

  std::uint8_t byte() {
    if (script_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(script_.front());
    script_.remove_prefix(1);
    return value;
  }
  std::string_view bytes() {
    const std::size_t size = std::min<std::size_t>(byte(), script_.size());
    const auto taken = script_.substr(0, size);
    script_.remove_prefix(size);
    return taken;
  }
  template <class Enum>
  Enum one_of() {
    return static_cast<Enum>(byte() % static_cast<std::uint8_t>(Enum::count));
  }

  void send(End* end, std::string_view text) {
    sent_ += text.size();
    if (end != nullptr && sent_ <= max_bytes) end->send(text);
  }
  // In two parts, cut at the byte that the script says; the second is the next move.
  void send_cut(End* end, std::string_view text) {
    const std::size_t cut = std::min<std::size_t>(byte(), text.size());
    if (cut == 0) return send(end, text);
    send(end, text.substr(0, cut));
    pending_ = {end, std::string{text.substr(cut)}};
  }

  std::string_view script_;
  std::pair<End*, std::string> pending_{nullptr, {}};
  std::size_t sent_ = 0;
};

// The 64th number that the kernel would give out: each descriptor that is left open makes it
// higher.
int free_descriptor() {
  std::array<stile::UniqueFd, 64> probes;
  for (auto& probe : probes) probe = stile::UniqueFd{::dup(STDERR_FILENO)};
  return probes.back().get();
}

void play(std::string_view script) { Play{script}.run(); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool has_opened_what_stays = (play({}), true);
  const int before = free_descriptor();
  play({reinterpret_cast<const char*>(data), size});
  STILE_FUZZ_CHECK(free_descriptor() == before);
  return 0;
}
