# services.agent-proxy: the short form. One list of names for all agents of the netns subnet, and the
# commands create-agent-netns, delete-agent-netns, update-agent-domains, as thin wrappers.
{ config, lib, pkgs, ... }:

let
  cfg = config.services.agent-proxy;
  stile = config.services.stile.package;
  domainsFile = "/var/lib/agent-proxy/allowed-domains.txt";

  createNetns = pkgs.writeShellScriptBin "create-agent-netns" ''
    set -eu
    # The agent is known by its namespace's address; its names are those of all.
    exec ${stile}/bin/stile-netns create "$1" --card "''${2:-/etc/agent-proxy/card.json}"
  '';

  deleteNetns = pkgs.writeShellScriptBin "delete-agent-netns" ''
    set -eu
    exec ${stile}/bin/stile-netns delete "$1"
  '';

  # With names: these replace the list. Without: the list of the configuration.
  updateDomains = pkgs.writeShellScriptBin "update-agent-domains" ''
    set -eu
    new=$(mktemp ${domainsFile}.XXXXXX)
    trap 'rm -f "$new"' EXIT
    if [ "$#" -gt 0 ]; then printf '%s\n' "$@" >"$new"; else cat /etc/agent-proxy/domains.txt >"$new"; fi
    chmod 644 "$new"
    old=$(mktemp ${domainsFile}.XXXXXX)
    cp ${domainsFile} "$old"
    mv "$new" ${domainsFile}
    # All or nothing: a list with an error is taken back.
    if ! ${stile}/bin/stile reload; then mv "$old" ${domainsFile}; exit 1; fi
    rm -f "$old"
  '';
in
{
  options.services.agent-proxy = {
    enable = lib.mkEnableOption "Agent egress proxy with domain filtering";

    allowedDomains = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ ".anthropic.com" ".openai.com" ];
      description = "Domains agents are allowed to access";
    };
  };

  config = lib.mkIf cfg.enable {
    services.stile = {
      enable = true;
      checkConfig = lib.mkDefault false; # the list is a file of the machine
      # Who comes from the subnet without a card of its own is this agent.
      agents.localnet = {
        source = [ "10.200.0.0/16" ];
        allow_files = [ domainsFile ];
        http_ports = [ 80 ];
      };
    };

    environment.etc."agent-proxy/domains.txt".text = lib.concatStringsSep "\n" cfg.allowedDomains + "\n";
    environment.etc."agent-proxy/card.json".text = builtins.toJSON {
      allow_files = [ domainsFile ];
      http_ports = [ 80 ];
    };
    environment.systemPackages = [ createNetns deleteNetns updateDomains ];

    systemd.tmpfiles.rules = [
      "d /var/lib/agent-proxy 0755 root root -"
      "C ${domainsFile} 0644 root root - /etc/agent-proxy/domains.txt"
    ];
    # A new list of the configuration replaces what update-agent-domains wrote.
    system.activationScripts.agentProxyDomains.text = ''
      if ! cmp -s /etc/agent-proxy/domains.txt /var/lib/agent-proxy/configured.txt; then
        install -D -m 644 /etc/agent-proxy/domains.txt ${domainsFile}
        install -D -m 644 /etc/agent-proxy/domains.txt /var/lib/agent-proxy/configured.txt
      fi
    '';
  };
}
