"""A host, an Internet and agents, all made of network namespaces: no packet leaves this machine."""
