stile_fuzzer(control_request LINK stile::commands stile::control)
