"""deploy/k8s renders, hangs together, keeps PodSecurity's rules, and holds a config that stiled takes."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from harness.stiled import binary

K8S = Path(__file__).resolve().parents[2] / "deploy" / "k8s"
OVERLAYS = sorted(folder.name for folder in (K8S / "overlays").iterdir())


@pytest.fixture(scope="module")
def rendered():
    """{overlay: its objects}, by the kubectl that is here."""
    out = {}
    for overlay in OVERLAYS:
        done = subprocess.run(["kubectl", "kustomize", str(K8S / "overlays" / overlay)], text=True,
                              capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        out[overlay] = [*yaml.safe_load_all(done.stdout)]
    return out


def of_kind(objects, kind):
    return [thing for thing in objects if thing["kind"] == kind]


def by_name(objects, kind, name):
    (found,) = [t for t in of_kind(objects, kind) if t["metadata"]["name"] == name]
    return found


def pods(objects):
    """(namespace, labels, spec) of everything that becomes a pod."""
    for thing in objects:
        if thing["kind"] == "Pod":
            yield thing["metadata"]["namespace"], thing["metadata"]["labels"], thing["spec"]
        elif "template" in thing.get("spec", {}):
            template = thing["spec"]["template"]
            yield thing["metadata"]["namespace"], template["metadata"]["labels"], template["spec"]


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


def config_of(objects, spec):
    """stile.toml as the pod gets it."""
    (volume,) = [v for v in spec["volumes"] if v["name"] == "config"]
    text = by_name(objects, "ConfigMap", volume["configMap"]["name"])["data"]["stile.toml"]
    return text, tomllib.loads(text)


def gateways(rendered):
    """(overlay, objects, pod spec, container) of every stiled."""
    for overlay, objects in rendered.items():
        for _, _, spec in pods(objects):
            for container in containers(spec):
                if container["name"] == "stiled":
                    yield overlay, objects, spec, container


def test_every_object_is_in_a_namespace_that_comes_with_it(rendered):
    for overlay, objects in rendered.items():
        namespaces = {thing["metadata"]["name"] for thing in of_kind(objects, "Namespace")}
        others = [thing for thing in objects if thing["kind"] != "Namespace"]
        assert others and {t["metadata"]["namespace"] for t in others} <= namespaces, overlay


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_stiled_takes_the_embedded_config(rendered, run_folder, overlay):
    objects = rendered[overlay]
    for _, _, spec in pods(objects):
        if "stiled" not in [c["name"] for c in containers(spec)]:
            continue
        text, config = config_of(objects, spec)
        folder = run_folder / f"k8s-{overlay}"
        (folder / "cards").mkdir(parents=True)
        for cards in of_kind(objects, "ConfigMap"):
            for name, card in cards["data"].items():
                if name.endswith(".json"):
                    (folder / "cards" / name).write_text(card)
        text = text.replace("/etc/stile/cards", str(folder / "cards"))
        (folder / "stile.toml").write_text(text)
        done = subprocess.run([binary(), "--check", "-c", str(folder / "stile.toml")], text=True,
                              capture_output=True, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert re.search(r"agents +1 \(\d cards?, 0 refused\)", said), said
        assert re.search(r"warnings +0\n", said), said
        assert config["audit"]["path"] == "-"


def test_paths_of_the_config_are_mounted(rendered):
    for overlay, objects, spec, container in gateways(rendered):
        _, config = config_of(objects, spec)
        mounts = {m["mountPath"]: m.get("readOnly", False) for m in container["volumeMounts"]}
        volumes = {v["name"] for v in spec["volumes"]}
        assert {m["name"] for m in container["volumeMounts"]} <= volumes
        assert mounts[os.path.dirname(config["server"]["control"])] is False, overlay
        assert mounts[config["server"]["state_dir"]] is False, overlay
        assert mounts[os.path.dirname(container["args"][1])] is True, overlay
        for directory in config["agents"]["directories"]:
            assert mounts[directory] is True, overlay
            assert config["agents"]["watch"] is True, "cards have to work without a restart"


def test_probes_and_ports_are_those_of_the_config(rendered):
    for overlay, objects, spec, container in gateways(rendered):
        _, config = config_of(objects, spec)
        ports = {port["name"]: port for port in container["ports"]}
        assert config["server"]["metrics"] == f"0.0.0.0:{ports['metrics']['containerPort']}"
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
        assert container["startupProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}
        if overlay != "sidecar":
            assert ports["proxy"]["hostPort"] == ports["proxy"]["containerPort"] == 3128
            assert config["server"]["listen"] == ["0.0.0.0:3128"]
            assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}


def test_pods_keep_to_pod_security_restricted(rendered):
    """The rules of the profile that concern pods like ours, but for the gateway's hostPort."""
    for overlay, objects in rendered.items():
        for namespace, _, spec in pods(objects):
            where = f"{overlay} {namespace}"
            pod = spec["securityContext"]
            assert pod["runAsNonRoot"] is True and pod["runAsUser"] > 0, where
            assert pod["seccompProfile"]["type"] == "RuntimeDefault", where
            assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys(), where
            assert spec["automountServiceAccountToken"] is False, where
            for volume in spec["volumes"]:
                assert volume.keys() - {"name"} <= {"configMap", "emptyDir"}, where
            for container in containers(spec):
                own = container["securityContext"]
                assert own["allowPrivilegeEscalation"] is False, where
                assert own["readOnlyRootFilesystem"] is True, where
                assert own["capabilities"] == {"drop": ["ALL"]}, where
                assert container["resources"]["limits"]["memory"], where
                host_ports = [p for p in container.get("ports", []) if "hostPort" in p]
                assert not host_ports or namespace == "stile-system", where
        for space in of_kind(objects, "Namespace"):
            level = space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
            wanted = "privileged" if space["metadata"]["name"] == "stile-system" else "restricted"
            assert level == wanted, overlay


def matches(selector, labels):
    wanted = selector.get("matchLabels", selector)
    return wanted.items() <= labels.items()


def test_agents_can_go_to_the_gateway_and_nowhere_else(rendered):
    for overlay in ("node-gateway", "node-addresses", "monitoring"):
        objects = rendered[overlay]
        policy = by_name(objects, "NetworkPolicy", "only-the-gateway")["spec"]
        assert policy["podSelector"] == {} and set(policy["policyTypes"]) == {"Ingress", "Egress"}
        assert policy["ingress"] == []
        (rule,) = policy["egress"]
        assert rule["ports"] == [{"protocol": "TCP", "port": 3128}]
        gateway, *rest = rule["to"]
        space = by_name(objects, "Namespace", "stile-system")["metadata"]["labels"]
        daemon = by_name(objects, "DaemonSet", "stile")["spec"]
        assert matches(gateway["namespaceSelector"], space)
        assert matches(gateway["podSelector"], daemon["template"]["metadata"]["labels"])
        assert matches(daemon["selector"], daemon["template"]["metadata"]["labels"])
        assert len(rest) == (overlay == "node-addresses")
        agents = by_name(objects, "Namespace", "stile-agents")["metadata"]["labels"]
        ingress = by_name(objects, "NetworkPolicy", "stile")["spec"]["ingress"]
        assert matches(ingress[0]["from"][0]["namespaceSelector"], agents)


def test_agents_are_told_of_the_gateway_of_their_node(rendered):
    agent = by_name(rendered["node-gateway"], "Pod", "alpha")["spec"]["containers"][0]
    variables = {entry["name"]: entry for entry in agent["env"]}
    assert variables["NODE_ADDRESS"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.hostIP"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        assert variables[name]["value"] == "http://$(NODE_ADDRESS):3128"


def test_selectors_find_the_gateway(rendered):
    objects = rendered["monitoring"]
    labels = by_name(objects, "DaemonSet", "stile")["spec"]["template"]["metadata"]["labels"]
    service = by_name(objects, "Service", "stile-metrics")
    monitor = by_name(objects, "ServiceMonitor", "stile")["spec"]
    budget = by_name(objects, "PodDisruptionBudget", "stile")["spec"]
    assert matches(service["spec"]["selector"], labels) and matches(budget["selector"], labels)
    assert budget["minAvailable"] == 1
    assert matches(monitor["selector"], service["metadata"]["labels"])
    assert monitor["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    assert service["metadata"]["labels"][monitor["jobLabel"]] == "stile"


def test_a_changed_config_makes_a_rollout_and_changed_cards_do_not(rendered):
    spec = by_name(rendered["node-gateway"], "DaemonSet", "stile")["spec"]["template"]["spec"]
    names = {v["name"]: v["configMap"]["name"] for v in spec["volumes"] if "configMap" in v}
    assert re.fullmatch(r"stile-config-[a-z0-9]{10}", names["config"])
    assert names["cards"] == "stile-cards"


def test_sidecar_says_first_that_it_is_no_fence():
    lines = (K8S / "overlays" / "sidecar" / "README.md").read_text().splitlines()
    first = next(line for line in lines if line and not line.startswith("#"))
    assert "does not fence its agent in" in first


def test_image_holds_all_that_the_daemon_needs(run_folder):
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    root = run_folder / "image"
    programs = ["stile", "stile-fleet", "stiled"]
    subprocess.run([K8S / "image-root", root, *map(binary, programs)], check=True)
    shutil.copy(K8S / "base" / "stile.toml", root / "etc/stile/config")
    card = yaml.safe_load((K8S / "base" / "cards.yaml").read_text())["data"]["alpha.json"]
    (root / "etc/stile/cards/alpha.json").write_text(json.dumps(json.loads(card)))
    for command in (["stiled", "--check", "-c", "/etc/stile/config/stile.toml"],
                    ["stile", "check", "/etc/stile/config/stile.toml"], ["stile-fleet", "--version"]):
        done = subprocess.run(["chroot", "--userspec=65532:65532", root, f"/usr/bin/{command[0]}",
                               *command[1:]], text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(os.listdir(root / "usr/bin")) == programs, "nothing else to run"
    assert os.listdir(root / "usr/share/stile/capabilities")


def test_dockerfile_runs_as_nobody_and_from_nothing():
    text = (K8S / "Dockerfile").read_text()
    last = text[text.rindex("FROM "):]
    assert last.startswith("FROM scratch\n") and "USER 65532:65532" in last
    assert re.findall(r"^FROM \S+", text, re.M) == ["FROM debian:12", "FROM scratch"]
