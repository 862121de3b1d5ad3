# What requests carry.
stile_fuzzer(scan LINK stile::scan)
