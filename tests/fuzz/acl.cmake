stile_fuzzer(authority LINK stile::acl)
stile_fuzzer(pattern LINK stile::acl)
