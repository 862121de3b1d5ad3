stile_fuzzer(web_target LINK stile::web)
stile_fuzzer(a2a_request LINK stile::a2a stile::web)
