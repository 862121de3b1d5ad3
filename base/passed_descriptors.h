// passed_descriptors: keeps clients of a unix socket from sending file descriptors.
#pragma once

namespace stile {

// On a listener, before its clients connect, or on a connection: sendmsg(2) then refuses SCM_RIGHTS
// to it. Otherwise the kernel closes what was sent in the thread that reads, and closing can take
// as long as the sender wants: a TCP socket with SO_LINGER waits for its peer.
// Linux has this since 6.16; before, it does nothing.
void refuse_descriptors(int socket) noexcept;

}  // namespace stile
