// Relay, between processes: frozen here, resumed there.
#include <utility>

#include "proxy/net/relay.h"

namespace stile::net {

std::size_t Relay::unsent_bytes() const noexcept {
  return (up_.unsent ? up_.unsent->size() : 0) + (down_.unsent ? down_.unsent->size() : 0);
}

FrozenRelay Relay::freeze() noexcept {
  unlink();  // from those that wait for a budget
  client_->watch(nullptr);
  origin_->watch(nullptr);
  FrozenRelay frozen;
  frozen.client = client_->release();
  frozen.origin = origin_->release();
  freeze_direction(up_, frozen.up);
  freeze_direction(down_, frozen.down);
  frozen.last_byte = last_byte_;
  return frozen;
}

void Relay::freeze_direction(Direction& way, FrozenDirection& frozen) noexcept {
  frozen.bytes = way.bytes;
  frozen.debt = way.debt;
  if (way.unsent) frozen.unsent = std::move(*way.unsent);
  way.unsent.reset();
  if (way.pipe && way.pipe->bytes > 0) {
    frozen.pipe = std::move(*way.pipe);
    way.pipe.reset();
  }
  frozen.is_over_budget = way.is_over_budget;
  frozen.saw_end = way.saw_end;
  frozen.sent_end = way.sent_end;
}

void Relay::resume(FrozenRelay& frozen) {
  resume_direction(up_, frozen.up);
  resume_direction(down_, frozen.down);
  last_byte_ = frozen.last_byte;
}

void Relay::resume_direction(Direction& way, FrozenDirection& frozen) {
  way.bytes = frozen.bytes;
  way.debt = frozen.debt;
  if (!frozen.unsent.empty()) way.unsent = std::make_unique<std::string>(std::move(frozen.unsent));
  if (frozen.pipe.bytes > 0) {
    way.pipe = std::make_unique<Pipe>(std::move(frozen.pipe));
    way.is_bulk = true;
  }
  way.is_over_budget = frozen.is_over_budget;
  way.saw_end = frozen.saw_end;
  way.sent_end = frozen.sent_end;
}

}  // namespace stile::net
