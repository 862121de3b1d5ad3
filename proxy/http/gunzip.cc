// Gunzip: decodes a gzip stream piece by piece.
#include "proxy/http/gunzip.h"

#include <zlib.h>

#include <new>

namespace stile::http {
namespace {

constexpr int gzip_only = 16 + MAX_WBITS;

}  // namespace

void Gunzip::End::operator()(z_stream_s* stream) const noexcept {
  ::inflateEnd(stream);
  delete stream;
}

Gunzip::Gunzip() {
  auto stream = std::make_unique<z_stream>();
  if (::inflateInit2(stream.get(), gzip_only) != Z_OK) throw std::bad_alloc{};
  stream_.reset(stream.release());
}

bool Gunzip::decode(std::string_view& in, std::string& out, std::size_t most) {
  if (is_complete_) return in.empty();  // more would be a second answer to some clients
  const std::size_t before = out.size();
  out.resize(before + most);
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream_->avail_in = static_cast<uInt>(in.size());
  stream_->next_out = reinterpret_cast<Bytef*>(out.data() + before);
  stream_->avail_out = static_cast<uInt>(most);
  const int state = ::inflate(stream_.get(), Z_NO_FLUSH);
  out.resize(before + most - stream_->avail_out);
  in.remove_prefix(in.size() - stream_->avail_in);
  is_complete_ = state == Z_STREAM_END;
  return is_complete_ || state == Z_OK || state == Z_BUF_ERROR;
}

}  // namespace stile::http
