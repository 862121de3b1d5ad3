"""Git: a TLS origin with bare repositories behind `git http-backend`, and a client of it."""

import os
import subprocess

GIT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.test", "GIT_COMMITTER_NAME": "t",
       "GIT_COMMITTER_EMAIL": "t@example.test", "GIT_TERMINAL_PROMPT": "0"}


def git(*arguments, cwd, check=True, **variables):
    done = subprocess.run(["git", *arguments], cwd=cwd, env={**GIT, "HOME": str(cwd), **variables},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=50,
                          check=False)
    assert not check or done.returncode == 0, done.stderr
    return done


class GitOrigin:
    """Serves all repositories below a folder to everyone, for fetching and pushing."""

    def __init__(self, world, name="a.test"):
        self.root = world.folder / "repositories"
        self.origin = world.tls_origin(name)
        self.origin.default = self._serve

    def add(self, path):
        """A repository with one commit on main."""
        place = self.root / f"{path}.git"
        place.mkdir(parents=True)
        git("init", "-q", "--bare", "-b", "main", ".", cwd=place)
        git("config", "http.receivepack", "true", cwd=place)
        git("config", "receive.advertisePushOptions", "true", cwd=place)
        tree = git("hash-object", "-t", "tree", "-w", "/dev/null", cwd=place).stdout.strip()
        commit = git("commit-tree", "-m", "first", tree, cwd=place).stdout.strip()
        git("update-ref", "refs/heads/main", commit, cwd=place)
        return place

    def refs(self, path):
        listed = git("for-each-ref", "--format=%(refname)", cwd=self.root / f"{path}.git").stdout
        return listed.split()

    def pushes(self):
        return [request for request in self.origin.requests
                if request.target.endswith("/git-receive-pack")]

    def _serve(self, exchange):
        request = exchange.request
        body = exchange.read_body()
        path, _, query = request.target.partition("?")
        if not path.split("/info/")[0].split("/git-")[0].endswith(".git"):
            path = path.replace("/info/", ".git/info/").replace("/git-", ".git/git-")
        environment = {**GIT, "GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1",
                       "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": request.method,
                       "CONTENT_TYPE": request.value("content-type") or "",
                       "CONTENT_LENGTH": str(len(body)), "REMOTE_ADDR": "127.0.0.1",
                       "HTTP_CONTENT_ENCODING": request.value("content-encoding") or "",
                       "GIT_PROTOCOL": request.value("git-protocol") or "",
                       "HOME": os.fspath(self.root)}
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True,
                              env=environment, timeout=40, check=False)
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = next((line[8:] for line in lines if line.startswith("Status: ")), "200 OK")
        fields = [line for line in lines if line and not line.startswith("Status: ")]
        text = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(answer)}", *fields])
        exchange.send(text.encode("latin-1") + b"\r\n\r\n" + answer)
