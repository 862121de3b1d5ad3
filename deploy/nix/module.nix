# services.stile: the daemon, its policy, and the fence around agents.
{ config, lib, pkgs, ... }:

let
  sandbox = import ./sandbox.nix;
  cfg = config.services.stile;
  format = pkgs.formats.toml { };
  inherit (lib) mkOption mkIf mkDefault types;

  # With the daemon's defaults.
  netns = { gateway = "10.200.0.1"; port = 3128; } // (cfg.settings.netns or { });

  # A key that is not set stays out of the file, so that the daemon's own default holds.
  withoutNulls = lib.filterAttrs (_name: value: value != null);

  optional = type: description: mkOption {
    type = types.nullOr type;
    default = null;
    inherit description;
  };

  strings = description: mkOption {
    type = types.listOf types.str;
    default = [ ];
    inherit description;
  };

  agent = types.submodule {
    freeformType = format.type;
    options = {
      source = strings "Addresses or prefixes: who connects from there is this agent.";
      listen = strings "Listeners of its own: loopback addresses with a port, or `unix:/path`.";
      allow = strings "Patterns of names that it may reach. None: nothing.";
      deny = strings "Patterns of names that it may not reach; they win.";
      allow_files = strings "List files of names that it may reach.";
      deny_files = strings "List files of names that it may not reach.";
      ports = optional (types.listOf types.port) "Ports of tunnels; null: those of `settings.egress`.";
      http_ports = optional (types.listOf types.port) "Ports of plain HTTP; null: those of `settings.egress`.";
      mode = optional (types.enum [ "enforce" "observe" "offline" ]) "null: that of `settings.egress`.";
      bytes_up = optional types.str "Budget of bytes to origins, like `50MiB`.";
      bytes_down = optional types.str "Budget of bytes from origins.";
    };
  };

  entries = lib.mapAttrsToList (id: entry: { inherit id; } // withoutNulls entry) cfg.agents;
  settings = cfg.settings // lib.optionalAttrs (entries != [ ]) { agent = entries; };
  unchecked = format.generate "stile.toml" settings;

  # A policy that cannot be read fails the build, not the machine.
  checked = pkgs.runCommand "stile.toml" { } ''
    ${cfg.package}/bin/stiled --check -c ${unchecked}
    cp ${unchecked} $out
  '';
  configFile = if cfg.checkConfig then checked else unchecked;

  portOf = address: lib.toInt (lib.last (lib.splitString ":" address));
  isLoopback = address: lib.hasPrefix "127." address || lib.hasPrefix "[::1]" address;
in
{
  options.services.stile = {
    enable = lib.mkEnableOption "Stile, the egress filter for agents";

    package = lib.mkPackageOption pkgs "stile" { };

    settings = mkOption {
      description = ''
        The content of stile.toml, see stile.toml(5). Agents are better put into
        {option}`services.stile.agents`. A change of `server`, or of `path`, `format` or `chain` of
        `audit`, restarts the daemon; every other change is a reload. Tunnels go on over both, unless
        the new policy refuses them or the audit log is another one.
      '';
      default = { };
      type = types.submodule {
        freeformType = format.type;
        options = {
          server.listen = mkOption {
            type = types.listOf types.str;
            default = [ "127.0.0.1:3128" "10.200.0.1:3128" ];
            description = "Where agents connect that are known by their address.";
          };
          server.metrics = mkOption {
            type = types.str;
            default = "127.0.0.1:9128";
            description = "Where Prometheus scrapes; empty: nowhere.";
          };
          egress.mode = mkOption {
            type = types.enum [ "enforce" "observe" "offline" ];
            default = "enforce";
            description = "Whether refusals are made, only logged, or everything is refused.";
          };
          egress.ports = mkOption {
            type = types.listOf types.port;
            default = [ 443 ];
            description = "Ports of tunnels.";
          };
          egress.http_ports = mkOption {
            type = types.listOf types.port;
            default = [ ];
            description = "Ports of plain HTTP.";
          };
          egress.deny = mkOption {
            type = types.listOf types.str;
            default = [ ];
            description = "Names that no agent reaches.";
          };
          audit.path = mkOption {
            type = types.str;
            default = "/var/log/stile/audit.jsonl";
            description = "The audit log; `-`: the journal.";
          };
        };
      };
    };

    agents = mkOption {
      description = "Agents by their id. Other keys of `[[agent]]` are taken as they are.";
      default = { };
      type = types.attrsOf agent;
      example = lib.literalExpression ''
        { alpha = { source = [ "10.200.0.2" ]; allow = [ ".anthropic.com" "api.github.com" ]; }; }
      '';
    };

    checkConfig = mkOption {
      type = types.bool;
      default = true;
      description = ''
        Lets stiled read the file while the system is built. Turn it off if the file names list
        files that exist only on the machine.
      '';
    };

    fence.enable = mkOption {
      type = types.bool;
      default = true;
      description = "Keeps the fence of stile-netns up, around the agents that it makes.";
    };

    web = {
      enable = mkOption {
        type = types.bool;
        default = false;
        description = "Serves a page to look at agents, answer them and stop them; see stile-web(8).";
      };
      listen = mkOption {
        type = types.str;
        default = "127.0.0.1:9129";
        description = "Where: a loopback address with a port, or `unix:/run/stile-web/page.sock`.";
      };
      origins = strings "Further origins of the page, such as that of a reverse proxy.";
    };

    fleet = {
      enable = mkOption {
        type = types.bool;
        default = false;
        description = ''
          Joins this host to a fleet, whose signed policy lies in an etcd cluster; see stile-fleet(8).
          How to reach it is in {option}`services.stile.settings.fleet`.
        '';
      };
      groups = strings "Groups that may read the key and the password for etcd.";
    };

    openFirewall = mkOption {
      type = types.bool;
      default = false;
      description = "Opens the ports of `settings.server.listen` that are not loopback, on all interfaces.";
    };
  };

  config = mkIf cfg.enable {
    assertions = [
      {
        assertion = !(cfg.settings ? agent);
        message = "services.stile: put agents into services.stile.agents, not into settings.agent";
      }
      {
        assertion = !cfg.fleet.enable || (cfg.settings.fleet.endpoints or [ ]) != [ ];
        message = "services.stile: a fleet needs settings.fleet.endpoints";
      }
    ];

    services.stile.settings = {
      server = {
        control = mkDefault "/run/stile/control.sock";
        control_group = mkDefault "stile-admin";
        state_dir = mkDefault "/var/lib/stile";
      };
      agents = {
        directories = mkDefault [ "/etc/stile/agents.d" "/run/stile/agents.d" ];
        watch = mkDefault true;
      };
    };

    users.users.stile = { isSystemUser = true; group = "stile"; description = "Stile egress proxy"; };
    users.groups.stile = { };
    users.groups.stile-admin = { };
    users.users.stile-web = mkIf cfg.web.enable {
      isSystemUser = true;
      group = "stile-web";
      description = "Stile web page";
    };
    users.groups.stile-web = mkIf cfg.web.enable { };
    users.users.stile-fleet = mkIf cfg.fleet.enable {
      isSystemUser = true;
      group = "stile-fleet";
      description = "Stile fleet";
    };
    users.groups.stile-fleet = mkIf cfg.fleet.enable { };
    users.groups.agent-users = mkIf cfg.web.enable { };  # for the spawner's socket

    environment.etc."stile/stile.toml".source = configFile;
    environment.systemPackages = [ cfg.package ];
    networking.firewall.allowedTCPPorts = mkIf cfg.openFirewall
      (lib.unique (map portOf (lib.filter (address: !(isLoopback address)) cfg.settings.server.listen)));

    # /run/stile is root's, so that the privileged tool finds there only what root put there.
    systemd.tmpfiles.rules = [
      "d /run/stile 0755 root root -"
      "d /run/stile/agents.d 0750 root stile -"
      "d /run/stile/netns 0700 root root -"
      "d /etc/stile/agents.d 0755 root root -"
    ];

    # The daemon cannot write /run/stile, so systemd makes the control socket.
    systemd.sockets.stiled = {
      description = "Control socket of Stile";
      wantedBy = [ "sockets.target" ];
      socketConfig = {
        ListenStream = cfg.settings.server.control;
        FileDescriptorName = "control";
        SocketMode = "0660";
        SocketGroup = cfg.settings.server.control_group;
      };
    };

    # Where the fence hands over captured traffic; the daemon may not open such sockets itself.
    systemd.sockets.stiled-capture = mkIf cfg.fence.enable {
      description = "Captured traffic of agents";
      wantedBy = [ "sockets.target" ];
      socketConfig = {
        ListenDatagram = "${netns.gateway}:53";
        ListenStream = "${netns.gateway}:${toString (netns.port + 1)}";
        FileDescriptorName = "capture";
        Service = "stiled.service";
        Transparent = true;
        FreeBind = true;
        NoDelay = true;
        Backlog = 4096;
      };
    };

    systemd.services.stiled = {
      description = "Stile egress proxy";
      documentation = [ "man:stiled(8)" ];
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" "systemd-tmpfiles-setup.service" "stiled.socket" ];
      requires = [ "stiled.socket" ];
      # A stop and a start would cut tunnels, a restart does not.
      stopIfChanged = false;
      reloadTriggers = [ configFile ];
      # The keys that stile.toml(5) says only a restart applies.
      restartTriggers = [
        (builtins.toJSON {
          inherit (cfg.settings) server;
          inherit netns;
          audit = lib.filterAttrs (key: _: builtins.elem key [ "path" "format" "chain" ])
            (cfg.settings.audit or { });
          listen = lib.filterAttrs (_: listeners: builtins.head listeners != [ ])
            (builtins.mapAttrs
              (_: agent: [ (agent.listen or [ ]) (agent.listen_mode or null) (agent.listen_group or null) ])
              cfg.agents);
        })
      ];
      serviceConfig = sandbox.closed // {
        Type = "notify";
        # The path, not the store: a new policy must not make a new unit.
        ExecStart = "${cfg.package}/bin/stiled -c /etc/stile/stile.toml --service";
        # It waits, and fails if the new policy is refused. If the package is another one, that takes
        # over from the running daemon, and open tunnels go on in it.
        ExecReload = "${cfg.package}/bin/stiled -c /etc/stile/stile.toml --reload --service";
        # The daemon is a child of the process that systemd watches. In a restart only that process
        # ends, and systemd keeps the socket on which the new daemon meets the old one.
        NotifyAccess = "all";
        KillMode = "process";
        # A stop ends all processes.
        ExecStopPost = "${cfg.package}/bin/stiled --service-stopped";
        FileDescriptorStoreMax = 8;
        # Else systemd makes the sockets blocking for a daemon that serves on in a restart.
        NonBlocking = true;
        User = "stile";
        Group = "stile";
        SupplementaryGroups = [ cfg.settings.server.control_group ];
        Restart = "always";
        RestartSec = "1s";
        WatchdogSec = "30s";
        TimeoutStopSec = "45s";
        LimitNOFILE = 262144;
        StateDirectory = "stile";
        StateDirectoryMode = "0750";
        LogsDirectory = "stile";
        LogsDirectoryMode = "0750";

        RemoveIPC = true;
        KeyringMode = "private";
        RestrictAddressFamilies = [ "AF_INET" "AF_INET6" "AF_UNIX" "AF_NETLINK" ];
        SystemCallFilter = [
          "@system-service seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"
          "~@privileged @resources"
        ];
        # Not here: PrivateUsers, with which everybody at the control socket would be `nobody`.
      };
    };

    systemd.services.stile-web = mkIf cfg.web.enable {
      description = "Web page for Stile";
      documentation = [ "man:stile-web(8)" ];
      wantedBy = [ "multi-user.target" ];
      after = [ "stiled.socket" ];
      serviceConfig = sandbox.closed // {
        Type = "exec";
        ExecStart = builtins.concatStringsSep " " ([
          "${cfg.package}/bin/stile-web --listen ${cfg.web.listen}"
          "--socket ${cfg.settings.server.control} --login /run/stile-web/login.sock"
          "--group ${cfg.settings.server.control_group}"
        ] ++ map (origin: "--origin ${origin}") cfg.web.origins);
        # The audit log shows this user as the actor of every change.
        User = "stile-web";
        Group = "stile-web";
        SupplementaryGroups = [ cfg.settings.server.control_group "agent-users" ];
        RuntimeDirectory = "stile-web";
        Restart = "always";
        RestartSec = "1s";
        IPAddressDeny = "any";
        IPAddressAllow = "localhost";
        MemoryMax = "128M";
        SystemCallFilter = [
          "@system-service seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"
          "~@privileged @resources"
          "@chown" # it gives its socket to the group, as any owner may
        ];
      };
    };

    systemd.services.stile-fleet = mkIf cfg.fleet.enable {
      description = "Stile policy of a fleet of hosts";
      documentation = [ "man:stile-fleet(8)" ];
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" "stiled.socket" ];
      serviceConfig = sandbox.closed // {
        Type = "exec";
        ExecStart = "${cfg.package}/bin/stile-fleet -c /etc/stile/stile.toml --socket ${cfg.settings.server.control}";
        # The audit log shows this user as the actor of every change.
        User = "stile-fleet";
        Group = "stile-fleet";
        SupplementaryGroups = [ cfg.settings.server.control_group ] ++ cfg.fleet.groups;
        Restart = "on-failure";
        RestartSec = "1s";
        SocketBindDeny = "any";
        MemoryMax = "256M";
      };
    };

    systemd.services.stile-fence = mkIf cfg.fence.enable {
      description = "Fence around the network namespaces of agents";
      documentation = [ "man:stile-netns(8)" ];
      wantedBy = [ "multi-user.target" ];
      before = [ "stiled.service" ];
      after = [ "nftables.service" "firewall.service" "systemd-tmpfiles-setup.service" ];
      serviceConfig = {
        Type = "notify";
        ExecStart = "${cfg.package}/bin/stile-netns watch";
        Restart = "always";
        RestartSec = "100ms";
        CapabilityBoundingSet = [ "CAP_NET_ADMIN" "CAP_SYS_ADMIN" "CAP_CHOWN" ];
        NoNewPrivileges = true;
        RestrictAddressFamilies = [ "AF_NETLINK" "AF_UNIX" ];
        ProtectSystem = "strict";
        ReadWritePaths = [ "/run/stile" ];
        ProtectHome = true;
        PrivateTmp = true;
        PrivateDevices = true;
        LockPersonality = true;
        MemoryDenyWriteExecute = true;
        RestrictRealtime = true;
        RestrictSUIDSGID = true;
        SystemCallArchitectures = "native";
        UMask = "0077";
      };
    };
  };
}
