# A machine with Stile and an agent in a namespace, and one that plays the world outside.
{ module }:

{
  name = "stile";

  nodes.outside = { pkgs, ... }: {
    networking.firewall.allowedTCPPorts = [ 443 80 ];
    services.nginx = {
      enable = true;
      virtualHosts."allowed.test" = {
        addSSL = true;
        sslCertificate = "${pkgs.path}/nixos/tests/common/acme/server/acme.test.cert.pem";
        sslCertificateKey = "${pkgs.path}/nixos/tests/common/acme/server/acme.test.key.pem";
        locations."/".return = "200 'hello from outside'";
      };
    };
  };

  nodes.machine = { nodes, pkgs, ... }:
    let address = nodes.outside.networking.primaryIPAddress; in
    {
      imports = [ module ];
      environment.systemPackages = [ pkgs.curl pkgs.jq ];
      networking.hosts.${address} = [ "allowed.test" "refused.test" ];
      services.stile = {
        enable = true;
        settings.egress.private_exceptions = [ "${address}/32" ];
        agents.local = { source = [ "127.0.0.1" ]; allow = [ "allowed.test" ]; };
      };
      specialisation.wider.configuration.services.stile.agents.local.allow = [ "refused.test" ];
    };

  testScript = ''
    import json

    start_all()
    outside.wait_for_open_port(443)
    machine.wait_for_unit("stiled.service")
    machine.wait_for_unit("stile-fence.service")
    machine.wait_for_open_port(3128)

    curl = "curl -sk -o /dev/null -w '%{http_connect}' -x http://127.0.0.1:3128"

    with subtest("an allowed name passes, another is refused"):
        assert machine.succeed(f"{curl} https://allowed.test/").strip() == "200"
        assert machine.execute(f"{curl} https://refused.test/")[1].strip() == "403"

    with subtest("every decision is in the log"):
        lines = machine.succeed("cat /var/log/stile/audit.jsonl").splitlines()
        events = [json.loads(line)["event"] for line in lines]
        assert "open" in events and "deny" in events, events
        machine.succeed("stile audit verify /var/log/stile/audit.jsonl")

    with subtest("a namespace reaches the proxy and nothing else"):
        machine.succeed("stile-netns create alpha --allow allowed.test")
        inside = "stile-netns exec alpha --"
        assert machine.succeed(
            f"{inside} curl -sk -o /dev/null -w '%{{http_connect}}' https://allowed.test/"
        ).strip() == "200"
        machine.fail(f"{inside} curl -sk --noproxy '*' -m 5 https://${"$"}(getent hosts allowed.test | cut -d' ' -f1)/")
        machine.succeed("stile-netns check alpha")
        machine.succeed("stile-netns delete alpha --kill")

    with subtest("a new policy is a reload, not a restart"):
        pid = machine.succeed("systemctl show -P MainPID stiled").strip()
        machine.succeed("/run/current-system/specialisation/wider/bin/switch-to-configuration test")
        machine.wait_until_succeeds(f"test $({curl} https://refused.test/) = 200")
        assert machine.succeed("systemctl show -P MainPID stiled").strip() == pid

    with subtest("a restart has the new process take over"):
        machine.succeed("systemctl restart stiled")
        machine.succeed("journalctl -u stiled | grep -q 'taken over from'")
        machine.succeed("systemctl stop stiled")
        machine.fail("pgrep -x stiled")
        machine.succeed("systemctl start stiled")

    with subtest("the sandbox is tight"):
        score = machine.succeed("systemd-analyze security --no-pager stiled | tail -1")
        assert float(score.split(":")[1].split()[0]) < 2.0, score
  '';
}
