# services.mcp-a2a-workers: a captain's way to workers, by MCP (stile mcp) and by A2A (stile-web).
{ config, lib, ... }:

let
  sandbox = import ./sandbox.nix;
  cfg = config.services.mcp-a2a-workers;
  stile = config.services.stile.package;
  hasHttp = cfg.http.listen != null;
in
{
  options.services.mcp-a2a-workers = {
    enable = lib.mkEnableOption "MCP server for A2A worker management";

    http = {
      listen = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        example = "127.0.0.1:8129";
        description = ''
          A loopback address on which the MCP server is also served over HTTP, as the user
          `mcp-server`. null: clients start `stile mcp` themselves.
        '';
      };
      tokenFile = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        description = "A file with the token that clients need over HTTP. Only root has to be able to read it.";
      };
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = [{
      assertion = !hasHttp || cfg.http.tokenFile != null;
      message = "services.mcp-a2a-workers: http.listen needs http.tokenFile";
    }];

    services.agent-spawner.enable = lib.mkDefault true;
    services.stile.web.enable = lib.mkDefault true;

    # Unprivileged: it may use the spawner and look at the daemon, and can grant nothing.
    users.users.mcp-server = {
      isSystemUser = true;
      group = "mcp-server";
      extraGroups = [ "agent-users" ];
      description = "MCP server for workers";
    };
    users.groups.mcp-server = { };
    users.groups.agent-users = { };

    services.stile.settings.server.read_only_group = lib.mkDefault "agent-users";
    systemd.sockets.stiled-read = {
      description = "Control socket of Stile, looking only";
      wantedBy = [ "sockets.target" ];
      socketConfig = {
        ListenStream = "/run/stile/read.sock";
        FileDescriptorName = "read";
        Service = "stiled.service";
        SocketMode = "0660";
        SocketGroup = config.services.stile.settings.server.read_only_group;
        RemoveOnStop = true;
      };
    };

    systemd.services.stile-mcp = lib.mkIf hasHttp {
      description = "MCP server for workers";
      wantedBy = [ "multi-user.target" ];
      after = [ "stile-spawner.socket" "stiled-read.socket" ];
      serviceConfig = sandbox.unprivileged // {
        ExecStart = "${stile}/bin/stile mcp --http ${cfg.http.listen} --token-file %d/token";
        LoadCredential = "token:${toString cfg.http.tokenFile}";
        User = "mcp-server";
        Group = "mcp-server";
        SupplementaryGroups = [ "agent-users" ];
        Restart = "on-failure";
        RestartSec = "1s";
        IPAddressDeny = "any";
        IPAddressAllow = "localhost";
      };
    };
  };
}
