# The modules of deploy/nix with a configuration, evaluated against the stand-in: what they set.
{ module }:

let
  lib = import ./lib.nix;
  script = name: text: { inherit name text; outPath = "/store/${name}"; };
  pkgs = {
    formats.toml = _: {
      type = lib.types.raw;
      generate = name: value: { inherit value; outPath = "/store/${name}"; };
    };
    runCommand = name: _: script name;
    writeShellScriptBin = script;
    stile = { outPath = "/store/stile"; version = "0"; meta = { }; };
  };
  config = lib.evalModules {
    inherit lib pkgs;
    modules = [ (import ../../../deploy/nix/module.nix) (import ../../../deploy/nix/agent-proxy.nix)
                (import ../../../deploy/nix/agent-spawner.nix) (import ../../../deploy/nix/mcp-a2a-workers.nix) module ];
  };
in
# All of it, so that a name that no option has is found.
builtins.deepSeq config.services (builtins.removeAttrs config [ "services" "environment" ] // {
  settings = config.services.stile.settings;
  toml = config.environment.etc."stile/stile.toml".source.value or null;
  spawner = config.environment.etc."stile/spawner.toml".source.value or null;
  check = config.environment.etc."stile/stile.toml".source.text or null;
  etc = builtins.mapAttrs (_: file: file.text or null) (config.environment.etc or { });
  scripts = map (package: package.text or null) (config.environment.systemPackages or [ ]);
})
