stile_fuzzer(mcp_message LINK stile::mcp)
