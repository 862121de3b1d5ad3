# The reader of audit lines (`stile audit`, and every start), and the writer that feeds it.
stile_fuzzer(audit_line LINK stile::audit)
# squid's formats, with what an agent sends.
stile_fuzzer(log_format LINK stile::audit)
