// Inflate: decodes gzip, zlib and raw deflate data piece by piece.
#include "scan/inflate.h"

#include <zlib.h>

#include <new>

namespace stile::scan {
namespace {

constexpr int only_gzip = 16 + MAX_WBITS, gzip_or_zlib_bits = 32 + MAX_WBITS, raw = -MAX_WBITS;
constexpr std::size_t zlib_header = 2;

}  // namespace

void Inflate::End::operator()(z_stream_s* stream) const noexcept {
  ::inflateEnd(stream);
  delete stream;
}

Inflate::Inflate(Format format) : format_{format}, buffer_{new std::array<char, step>} {
  auto stream = std::make_unique<z_stream>();
  const int bits = format == Format::gzip ? only_gzip : gzip_or_zlib_bits;
  if (::inflateInit2(stream.get(), bits) != Z_OK) throw std::bad_alloc{};
  stream_.reset(stream.release());
}

void Inflate::begin_again() { ::inflateReset(stream_.get()); }

int Inflate::run(std::string_view& in) {
  // zlib does not write there.
  stream_->next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // NOLINT(*-const-cast)
  stream_->avail_in = static_cast<uInt>(in.size());
  const int state = ::inflate(stream_.get(), Z_NO_FLUSH);
  in.remove_prefix(in.size() - stream_->avail_in);
  return state;
}

Inflate::State Inflate::decode(std::string_view& in, std::string_view& out) {
  stream_->next_out = reinterpret_cast<Bytef*>(buffer_->data());
  stream_->avail_out = static_cast<uInt>(buffer_->size());
  const bool may_be_raw = format_ == Format::deflate && !is_raw_ && first_.size() < zlib_header;
  if (may_be_raw) first_.append(in.substr(0, zlib_header - first_.size()));
  int state = run(in);
  if (state == Z_DATA_ERROR && may_be_raw && first_.size() == zlib_header &&
      stream_->total_in == zlib_header && stream_->total_out == 0) {
    is_raw_ = true;
    std::string_view first = first_;
    state = ::inflateReset2(stream_.get(), raw);
    if (state == Z_OK) state = run(first);
    if (state == Z_OK && !in.empty()) state = run(in);
  }
  out = {buffer_->data(), step - stream_->avail_out};
  if (state == Z_STREAM_END) {
    // RFC 1952 2.2: members follow each other without anything between.
    return ::inflateReset(stream_.get()) == Z_OK ? State::has_ended : State::is_bad;
  }
  return state == Z_OK || state == Z_BUF_ERROR ? State::goes_on : State::is_bad;
}

}  // namespace stile::scan
