# services.agent-spawner: starts workers from the operator's templates, as units of systemd behind the fence.
{ config, lib, pkgs, ... }:

let
  sandbox = import ./sandbox.nix;
  cfg = config.services.agent-spawner;
  stile = config.services.stile.package;
  toml = pkgs.formats.toml { };
  configFile = toml.generate "spawner.toml" ({
    max_workers = cfg.maxWorkers;
    allowed_workspaces = cfg.allowedWorkspaces;
    spawn_cooldown_seconds = cfg.spawnCooldownSeconds;
  } // lib.optionalAttrs (cfg.templates != { }) { inherit (cfg) templates; });
in
{
  options.services.agent-spawner = {
    enable = lib.mkEnableOption "Secure agent spawner daemon";

    maxWorkers = lib.mkOption {
      type = lib.types.int;
      default = 10;
      description = "Maximum concurrent workers";
    };

    allowedWorkspaces = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ "/mnt/agents" ];
      description = "Directories where workers can have workspaces";
    };

    spawnCooldownSeconds = lib.mkOption {
      type = lib.types.int;
      default = 5;
      description = "Minimum seconds between spawns";
    };

    proxyAddress = lib.mkOption {
      type = lib.types.str;
      default = "127.0.0.1";
      description = "Where the proxy listens for the host itself; workers use the gateway 10.200.0.1";
    };

    proxyPort = lib.mkOption {
      type = lib.types.port;
      default = 3128;
      description = "The proxy's port, at both addresses; captured traffic uses the next one";
    };

    templates = lib.mkOption {
      type = lib.types.attrsOf toml.type;
      default = { };
      example = { default = { task = [ "opencode" "run" ]; profile = "opencode"; ttl_seconds = 3600; }; };
      description = "What callers can start; without `default`, one that reaches nothing and has no task";
    };
  };

  config = lib.mkIf cfg.enable {
    services.stile = {
      enable = true;
      settings.server.listen = lib.mkDefault
        (map (address: "${address}:${toString cfg.proxyPort}") [ cfg.proxyAddress "10.200.0.1" ]);
      settings.netns = lib.mkIf (cfg.proxyPort != 3128) { port = cfg.proxyPort; };
    };
    users.groups.agent-users = { };
    environment.etc."stile/spawner.toml".source = configFile;
    systemd.tmpfiles.rules = [
      "d /run/agent-spawner 0755 root root -"
      "d /run/agent-spawner/workers 0700 root root -"
    ];

    systemd.sockets.stile-spawner = {
      description = "Socket of the spawner of sandboxed workers";
      aliases = [ "agent-spawner.socket" ];
      wantedBy = [ "sockets.target" ];
      socketConfig = {
        ListenStream = "/run/agent-spawner/spawner.sock";
        SocketMode = "0660";
        SocketUser = "root";
        SocketGroup = "agent-users";
        DirectoryMode = "0755";
        RemoveOnStop = true;
      };
    };

    systemd.services.stile-spawner = {
      description = "Spawner of sandboxed workers";
      aliases = [ "agent-spawner.service" ];
      requires = [ "stile-spawner.socket" ];
      after = [ "stile-spawner.socket" "dbus.socket" ];
      reloadTriggers = [ configFile ];
      # As systemd/stile-spawner.service of the source says, and why.
      serviceConfig = sandbox.base // {
        Type = "notify";
        ExecStart = "${stile}/bin/stile-spawner";
        ExecReload = [ "${stile}/bin/stile-spawner --check" "kill -HUP $MAINPID" ];
        Restart = "on-failure";
        RestartSec = "1s";
        LimitCORE = 0;
        CapabilityBoundingSet = [ "CAP_DAC_OVERRIDE" "CAP_DAC_READ_SEARCH" ];
        PrivateNetwork = true;
        RestrictAddressFamilies = [ "AF_UNIX" ];
        ProtectSystem = "full";
        LogsDirectory = "agent-spawner";
        LogsDirectoryMode = "0750";
        DevicePolicy = "closed";
        PrivateIPC = true;
        KeyringMode = "private";
        UMask = "0022";
      };
    };
  };
}
