stile_fuzzer(card LINK stile::config stile::base)
stile_fuzzer(list_file LINK stile::config)
stile_fuzzer(toml_config LINK stile::config)
stile_fuzzer(secret_text LINK stile::config)
