// LineRelay: frames over a stream of two processes on the same host.
#include "audit/line_relay.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <string>

#include "audit/log.h"
#include "base/local_socket.h"
#include "base/pack.h"

namespace stile::audit {
namespace {

// Longer than the log itself waits for a slow disk.
constexpr int patience_ms = 5000;

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_until_ready(fd, POLLOUT, patience_ms)) return false;
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && errno != EAGAIN) {
      return false;
    }
  }
  return true;
}

bool receive_all(int fd, char* to, std::size_t size, int timeout_ms) {
  while (size > 0) {
    if (!wait_until_ready(fd, POLLIN, timeout_ms)) return false;
    const ssize_t got = ::recv(fd, to, size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return false;
    if (got < 0) continue;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::uint32_t> receive_number(int fd, int timeout_ms) {
  std::string bytes(sizeof(std::uint32_t), '\0');
  if (!receive_all(fd, bytes.data(), bytes.size(), timeout_ms)) return std::nullopt;
  return Unpacker{bytes}.number<std::uint32_t>();
}

}  // namespace

std::optional<std::size_t> LineRelay::write(const Batch& batch) {
  if (!stream_) return std::nullopt;
  Packer pieces;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Batch::Piece piece = batch.piece(i);
    pieces.flag(piece.has_happened).text(piece.before).text(piece.after);
  }
  const std::string frame = Packer{}.text(pieces.take()).take();
  std::optional<std::uint32_t> written;
  if (frame.size() <= max_frame && send_all(stream_.get(), frame)) {
    written = receive_number(stream_.get(), patience_ms);
  }
  // What is not answered now could be answered later, in place of another.
  if (!written || *written > batch.size()) {
    stream_.reset();
    return std::nullopt;
  }
  return *written;
}

bool read_frame(std::string_view frame, Batch& batch) {
  while (!frame.empty()) {
    Unpacker in{frame};
    const bool has_happened = in.flag();
    const std::string before = in.text(LineRelay::max_frame);
    const std::string after = in.text(LineRelay::max_frame);
    const std::size_t size = 1 + 4 + before.size() + 4 + after.size();
    if (size > frame.size() || !in.is_good()) return false;
    batch.add_piece(has_happened, before, after);
    frame.remove_prefix(size);
  }
  return true;
}

void write_relayed(const UniqueFd& stream, Log& log) {
  Batch batch = log.new_batch();
  try {
    while (const auto size = receive_number(stream.get(), -1)) {
      if (*size > LineRelay::max_frame) return;
      std::string frame(*size, '\0');
      if (!receive_all(stream.get(), frame.data(), frame.size(), patience_ms)) return;
      if (!read_frame(frame, batch)) return;
      const auto written = static_cast<std::uint32_t>(log.write(batch));
      if (!send_all(stream.get(), Packer{}.number(written).take())) return;
    }
  } catch (const std::exception&) {
    // No memory: the other process sees the end of the stream, and refuses what needs a line.
  }
}

}  // namespace stile::audit
