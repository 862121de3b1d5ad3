// passed_descriptors: SO_PASSRIGHTS.
#include "base/passed_descriptors.h"

#include <sys/socket.h>

namespace stile {
namespace {

#ifdef SO_PASSRIGHTS
constexpr int pass_rights = SO_PASSRIGHTS;
#else
constexpr int pass_rights = 83;  // <asm-generic/socket.h> of Linux 6.16
#endif

}  // namespace

void refuse_descriptors(int socket) noexcept {
  const int off = 0;
  ::setsockopt(socket, SOL_SOCKET, pass_rights, &off, sizeof off);  // fails on older kernels
}

}  // namespace stile
