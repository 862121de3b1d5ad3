# What the services of Stile may not do. `base` also fits a service that runs as root and starts others.
rec {
  base = {
    NoNewPrivileges = true;
    PrivateDevices = true;
    PrivateTmp = true;
    ProtectClock = true;
    ProtectControlGroups = true;
    ProtectHostname = true;
    ProtectKernelLogs = true;
    ProtectKernelModules = true;
    ProtectKernelTunables = true;
    ProtectProc = "invisible";
    RestrictNamespaces = true;
    RestrictRealtime = true;
    LockPersonality = true;
    MemoryDenyWriteExecute = true;
    SystemCallArchitectures = "native";
    SystemCallFilter = [ "@system-service" "~@privileged @resources" ];
    SystemCallErrorNumber = "EPERM";
  };

  # With a user of its own.
  unprivileged = base // {
    CapabilityBoundingSet = "";
    ProtectSystem = "strict";
    ProtectHome = true;
    RestrictAddressFamilies = [ "AF_INET" "AF_INET6" "AF_UNIX" ];
    RestrictSUIDSGID = true;
    UMask = "0077";
  };

  # And that sees no other process, device or mount.
  closed = unprivileged // {
    DevicePolicy = "closed";
    PrivateMounts = true;
    PrivateIPC = true;
    ProcSubset = "pid";
  };
}
