// The public names of the events.
#include "audit/record.h"

namespace stile::audit {

std::string_view text(Event event) noexcept {
  switch (event) {
    case Event::open:
      return "open";
    case Event::close:
      return "close";
    case Event::deny:
      return "deny";
    case Event::ask:
      return "ask";
    case Event::answer:
      return "answer";
    case Event::policy:
      return "policy";
    case Event::grant:
      return "grant";
    case Event::start:
      return "start";
    case Event::stop:
      return "stop";
    case Event::audit_gap:
      return "audit-gap";
  }
  return "deny";  // not reached: every event has a name above
}

}  // namespace stile::audit
