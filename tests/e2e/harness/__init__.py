"""Everything the end-to-end tests share: origins, a DNS server, clients and the daemon itself."""
