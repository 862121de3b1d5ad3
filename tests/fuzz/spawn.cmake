stile_fuzzer(spawn_request LINK stile::spawn stile::worker)
