# nix build 'git+file:///path/to/stile?dir=deploy/nix'
{
  description = "Stile: egress filter for agents";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      overlays.default = final: _previous: {
        stile = final.callPackage ./package.nix { };
        stileSquidCompat = final.callPackage ./squid-compat.nix { };
      };

      packages = each (pkgs: rec {
        stile = pkgs.callPackage ./package.nix { };
        squidCompat = pkgs.callPackage ./squid-compat.nix { inherit stile; };
        default = stile;
      });

      nixosModules = rec {
        stile = {
          imports = [ ./module.nix ./agent-proxy.nix ./agent-spawner.nix ./mcp-a2a-workers.nix ];
          nixpkgs.overlays = [ self.overlays.default ];
        };
        default = stile;
      };

      checks = each (pkgs: {
        vm = pkgs.testers.runNixOSTest (import ./vm-test.nix { module = self.nixosModules.stile; });
      });
    };
}
