stile_fuzzer(envelope LINK stile::fleet_core)
stile_fuzzer(store_answer LINK stile::fleet_core)
