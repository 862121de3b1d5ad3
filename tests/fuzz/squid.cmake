stile_fuzzer(squid_conf LINK stile::squid)
