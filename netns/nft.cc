// nft: changes to nftables, as text.
#include "netns/nft.h"

#include <nftables/libnftables.h>

#include <memory>

namespace stile::netns {

Result<void> run_nft(const std::string& commands) {
  const auto listed = list_nft(commands);
  if (!listed) return listed.error();
  return {};
}

Result<std::string> list_nft(const std::string& command) {
  const std::unique_ptr<nft_ctx, void (*)(nft_ctx*)> context{nft_ctx_new(NFT_CTX_DEFAULT),
                                                             nft_ctx_free};
  if (!context || nft_ctx_buffer_output(context.get()) != 0 ||
      nft_ctx_buffer_error(context.get()) != 0) {
    return Error{"cannot start libnftables"};
  }
  if (nft_run_cmd_from_buffer(context.get(), command.c_str()) != 0) {
    return Error{std::string{"nftables: "} + nft_ctx_get_error_buffer(context.get())};
  }
  return text_result(nft_ctx_get_output_buffer(context.get()));
}

}  // namespace stile::netns
