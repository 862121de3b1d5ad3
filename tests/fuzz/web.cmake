stile_fuzzer(web_target LINK stile::web)
