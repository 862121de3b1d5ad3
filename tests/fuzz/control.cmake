stile_fuzzer(control_request LINK stile::control)
