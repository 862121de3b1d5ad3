# What must hold of the package in a booted system; sourced by scripts/package-test.
# shellcheck shell=bash disable=SC2154,SC2016,SC2317  # step, fail, guest, wait_for, root, package and work are its

# `!` alone would end nothing.
refute() { if "$@"; then fail "should have failed: $*"; fi; }
is_active() { guest systemctl --quiet is-active "$1"; }
property() { guest systemctl show --value --property="$2" "$1"; }
journal() { guest journalctl --quiet --no-pager --output=cat "$@"; }
# Reads to the end. After `grep -q`, the writer may fail at the closed pipe, and with pipefail so does the pipeline.
has() { [[ $(grep -c -e "$1") != 0 ]]; }
log_lines() { guest sh -c 'cat /var/log/stile/audit.jsonl*' | grep -c "$1"; }

apt_in_guest() {
  guest apt-get -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >>"$work/apt.log" 2>&1 ||
    { tail -n 30 "$work/apt.log"; fail "apt-get $*"; }
}

check_install() {
  : >"$work/apt.log"
  apt_in_guest install -y /root/stile.deb
  for unit in stiled.socket stiled-capture.socket stiled.service stile-fence.service; do
    is_active "$unit" || { journal -u "$unit"; fail "$unit is not active"; }
    guest systemctl --quiet is-enabled "$unit"
  done
  local main
  main=$(property stiled.service MainPID)
  [[ $(guest ps -o user= -p "$main") == stile ]]
  guest grep -q '^CapEff:[[:space:]]*0*$' "/proc/$main/status"
}

check_files() {
  guest dpkg --verify stile
  [[ $(guest stat -c '%U:%G %a' /var/lib/stile) == "stile:stile 750" ]]
  [[ $(guest stat -c '%U:%G %a' /run/stile) == "root:root 755" ]]
  [[ $(guest stat -c '%U:%G %a' /run/stile/control.sock) == "root:stile-admin 660" ]]
  grep -qx /etc/stile/stile.toml "$root/var/lib/dpkg/info/stile.conffiles"
  guest stiled --check >/dev/null
  guest stile-netns check >"$work/check.log" || { cat "$work/check.log"; fail "stile-netns check"; }
  for page in man1/stile.1 man5/stile.toml.5 man8/stiled.8 man8/stile-{fleet,netns,spawner,squid,web}.8; do
    gzip -t "$root/usr/share/man/$page.gz"
  done
  for user in stile stile-fleet stile-notify stile-web; do guest id "$user" >/dev/null; done
}

# systemd holds the control socket: a request to a stopped daemon starts it.
check_socket_activation() {
  guest systemctl --quiet stop stiled.service 2>/dev/null
  refute is_active stiled.service
  guest stile status >/dev/null
  is_active stiled.service
}

add_origin() {
  guest sh -c 'mkdir -p /srv/web && echo "hello from the origin" >/srv/web/index.html &&
    echo "192.0.2.10 origin.test late.test" >>/etc/hosts && ip addr add 192.0.2.10/32 dev lo'
  guest systemd-run --quiet --unit=origin python3 -m http.server --bind 192.0.2.10 --directory /srv/web 8080
  wait_for 30 guest curl -sf -o /dev/null http://192.0.2.10:8080/
}

# An agent as an operator would add it: a card, and a command in a drop-in.
check_agent() {
  guest sh -c 'cat >/etc/stile/agents.d/alpha.json' <<'JSON'
{"id": "alpha", "source": ["10.200.0.9"], "allow": ["http://origin.test:8080"],
 "private_exceptions": ["192.0.2.10/32"]}
JSON
  guest sh -c 'cat >/usr/local/bin/agent && chmod 755 /usr/local/bin/agent' <<'SH'
#!/bin/sh
echo "<0>not an emergency"
echo "allowed: $(curl -sS http://origin.test:8080/)"
echo "refused: $(curl -s -o /dev/null -w '%{http_code}' http://late.test:8080/)"
curl -sS --max-time 5 --noproxy '*' http://192.0.2.10:8080/ || echo "no way around"
echo "is ready"
exec sleep infinity
SH
  guest sh -c 'mkdir -p /etc/systemd/system/stile-agent@alpha.service.d &&
    cat >/etc/systemd/system/stile-agent@alpha.service.d/command.conf' <<'UNIT'
[Service]
Environment=COMMAND=/usr/local/bin/agent
UNIT
  guest systemctl daemon-reload
  guest systemctl start stile-agent@alpha.service || { journal -u stile-agent@alpha.service; fail "the agent does not start"; }
  agent_says() { journal -u stile-agent@alpha.service | has "^$1"; }
  wait_for 30 agent_says "is ready"
  agent_says "allowed: hello from the origin"
  agent_says "refused: 403"
  agent_says "no way around"
  agent_says "<0>not an emergency"
  [[ -z $(journal -p emerg) ]]
  guest stile-netns check >"$work/check.log" || { cat "$work/check.log"; fail "stile-netns check"; }
  [[ $(log_lines '"event":"open"') == 1 ]]
}

# Not with `stile-netns exec`, which needs a config without errors.
agent_gets() {
  guest ip netns exec agent-alpha curl -s -o /dev/null -w '%{http_code}' -x http://10.200.0.1:3128 "http://$1:8080/"
}

# Programs that know no proxy: systemd holds both sockets, the daemon has no capability.
captured_gets() {
  guest ip netns exec agent-alpha curl -s -o /dev/null -w '%{http_code}' --noproxy '*' "http://$1:8080/" || true
}
check_capture() {
  local sockets
  sockets=$(guest ss -Hlntu 'src 10.200.0.1 and ( sport = :53 or sport = :3129 )' | awk '{ print $1, $5 }' | sort)
  [[ $sockets == $'tcp 10.200.0.1:3129\nudp 10.200.0.1:53' ]] || fail "the sockets: $sockets"
  [[ $(captured_gets origin.test) == 200 ]] || { journal -u stiled.service; fail "a program without a proxy"; }
  [[ $(captured_gets late.test) == 000 ]]  # the name does not exist
  guest sh -c 'grep -q "\"method\":\"DNS\".*late.test\|late.test.*\"method\":\"DNS\"" /var/log/stile/audit.jsonl'
  # An address that was given away outlives a restart, and no connection is refused meanwhile.
  local address
  address=$(guest ip netns exec agent-alpha getent ahostsv4 origin.test | awk 'NR == 1 { print $1 }')
  [[ $address == 198.1[89].* ]]
  guest systemctl restart stiled.service
  [[ $(guest ip netns exec agent-alpha curl -s -o /dev/null -w '%{http_code}' --noproxy '*' \
    --resolve "origin.test:8080:$address" http://origin.test:8080/) == 200 ]]
  # A question starts a daemon that was stopped: the socket is systemd's.
  guest systemctl --quiet stop stiled.service 2>/dev/null
  refute is_active stiled.service
  [[ $(captured_gets origin.test) == 200 ]] || { journal -u stiled.service; fail "a question to a stopped daemon"; }
  is_active stiled.service
}

check_reload() {
  [[ $(agent_gets late.test) == 403 ]]
  guest sed -i 's|"http://origin.test:8080"|&, "http://late.test:8080"|' /etc/stile/agents.d/alpha.json
  guest systemctl reload stiled.service
  [[ $(agent_gets late.test) == 200 ]]
  guest sh -c 'echo "nonsense = [" >>/etc/stile/stile.toml'
  refute guest systemctl --quiet reload stiled.service
  is_active stiled.service
  [[ $(agent_gets late.test) == 200 ]]
  guest sed -i '$d' /etc/stile/stile.toml
  guest systemctl reload stiled.service
}

# The old process serves until the new one has taken over. A stop ends all of them.
take_overs() { journal -u stiled.service | grep -c 'taken over from' || true; }
is_taken_over() { (($(take_overs) > before)); }
check_restart() {
  local before
  before=$(take_overs)
  guest systemctl restart stiled.service
  wait_for 30 is_taken_over
  [[ $(agent_gets origin.test) == 200 ]]
  guest grep -q '^CapEff:[[:space:]]*0*$' "/proc/$(guest pgrep -n -x stiled)/status"
  guest systemctl --quiet stop stiled.service 2>/dev/null
  refute guest pgrep -l stiled
  guest systemctl start stiled.service
  [[ $(agent_gets origin.test) == 200 ]]
}

check_logrotate() {
  guest logrotate --force /etc/logrotate.d/stile
  reopened() { guest test -s /var/log/stile/audit.jsonl; }
  [[ $(agent_gets origin.test) == 200 ]]
  wait_for 30 reopened
  guest sh -c 'stile audit verify /var/log/stile/audit.jsonl-* /var/log/stile/audit.jsonl' >/dev/null
}

# A worker of the spawner, whose unit has the other name, too. It outlives an upgrade.
spawner_says() { guest sh -c "echo '$1' | socat -t 60 - UNIX-CONNECT:/run/agent-spawner/spawner.sock"; }
check_spawner() {
  is_active stile-spawner.socket
  guest systemctl start agent-spawner.service
  is_active agent-spawner.service
  is_active agent-spawner.socket
  [[ $(guest stat -c '%U:%G %a' /run/agent-spawner/spawner.sock) == "root:agent-users 660" ]]
  spawner_says '{"action":"spawn","task_id":"worker","workspace":"/mnt/agents"}' | has '"status":"spawned"' ||
    { journal -u sandboxed-agent@worker.service; fail "no worker"; }
  is_active sandboxed-agent@worker.service
  guest stile-netns check worker >"$work/check.log" || { cat "$work/check.log"; fail "stile-netns check worker"; }
}

# Both are off until the operator enables them. Without [fleet], stile-fleet ends with success.
check_services_by_hand() {
  for unit in stile-web.service stile-fleet.service; do refute is_active "$unit"; done
  guest systemctl --quiet enable --now stile-web.service
  has_page() { guest curl -sf -o /dev/null http://127.0.0.1:9129/; }
  wait_for 30 has_page
  guest env STILE_WEB_SOCKET=/run/stile-web/login.sock stile web 2>/dev/null | has 'http://127.0.0.1:9129/'
  guest systemctl start stile-fleet.service
  has_ended() { ! is_active stile-fleet.service; }
  wait_for 30 has_ended
  [[ $(property stile-fleet.service Result) == success ]] || { journal -u stile-fleet; fail "stile-fleet failed"; }
}

# The same package with a higher version. What the operator wrote stays, and so does the agent.
check_upgrade() {
  local tree=$work/newer main before
  rm -rf "$tree" && dpkg-deb -R "$package" "$tree"
  sed -i 's/^Version: .*/&+upgrade/' "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -z1 -b "$tree" "$root/root/newer.deb" >/dev/null
  rm -rf "$tree"
  guest sh -c 'echo "# an operator was here" >>/etc/stile/stile.toml'
  main=$(property stiled.service MainPID)
  before=$(take_overs)
  apt_in_guest install -y -o Dpkg::Options::=--force-confold /root/newer.deb
  [[ $(guest dpkg-query -W -f '${Version}' stile) == *+upgrade ]]
  is_another() { [[ $(property stiled.service MainPID) != "$main" ]]; }
  wait_for 30 is_another
  wait_for 30 is_taken_over
  guest grep -q 'an operator was here' /etc/stile/stile.toml
  for unit in stiled.socket stiled-capture.socket stiled.service stile-fence.service stile-agent@alpha.service \
    stile-spawner.socket sandboxed-agent@worker.service stile-web.service; do
    is_active "$unit" || { journal -u "$unit"; fail "$unit is not active after the upgrade"; }
  done
  [[ $(captured_gets origin.test) == 200 ]]
  [[ $(agent_gets origin.test) == 200 ]]
  spawner_says '{"action":"list"}' | has '"task_id":"worker"'
}

# What the programs wrote themselves: what systemd says of a container is not theirs.
check_journal() {
  local complaints
  complaints=$(journal -p warning _SYSTEMD_UNIT=stiled.service _SYSTEMD_UNIT=stile-fence.service | grep -v nonsense) || true
  [[ -z $complaints ]] || fail "in the journal: $complaints"
}

check_removal() {
  apt_in_guest remove -y stile
  for unit in stiled.socket stiled-capture.socket stiled.service stile-fence.service stile-agent@alpha.service \
    stile-spawner.socket stile-spawner.service sandboxed-agent@worker.service stile-web.service; do
    refute is_active "$unit"
  done
  for program in stiled stile-netns stile-spawner stile-web; do refute guest pgrep -l -x "$program"; done
  guest test -e /etc/stile/stile.toml
  refute guest test -e /usr/sbin/stiled
  guest dpkg --purge stile >>"$work/apt.log" 2>&1
  for left in /etc/stile/stile.toml /var/lib/stile /var/log/stile /run/stile /usr/share/doc/stile \
    /etc/stile/spawner.toml /var/log/agent-spawner /run/agent-spawner; do
    refute guest test -e "$left"
  done
  guest systemctl daemon-reload
  [[ $(guest systemctl is-system-running) == running ]] || { guest systemctl --failed; fail "units have failed"; }
}

run_checks() {
  step "install; the services start" && check_install
  step "files, users, config" && check_files
  step "socket activation" && check_socket_activation
  step "an agent behind the fence"
  add_origin
  check_agent
  step "capture" && check_capture
  step "reload" && check_reload
  step "restart" && check_restart
  step "logrotate" && check_logrotate
  step "spawner" && check_spawner
  step "page and fleet" && check_services_by_hand
  step "upgrade" && check_upgrade
  step "journal" && check_journal
  step "removal" && check_removal
}
