"""Cards in a folder that changes as the kubelet changes a ConfigMap's volume: one rename of `..data`."""

import json
import os

from harness.wait import until


class Volume:
    """The files are links to ..data/NAME, and ..data is a link to the folder of this version."""

    def __init__(self, folder):
        self.folder, self.version = folder, 0
        folder.mkdir()

    def write(self, files):
        self.version += 1
        fresh = self.folder / f"..version_{self.version}"
        fresh.mkdir()
        for name, text in files.items():
            (fresh / name).write_text(text)
        os.symlink(fresh.name, self.folder / "..data_tmp")
        os.rename(self.folder / "..data_tmp", self.folder / "..data")
        for name in files:
            if not (self.folder / name).is_symlink():
                os.symlink(f"..data/{name}", self.folder / name)
        for link in self.folder.iterdir():
            if not link.name.startswith("..") and link.name not in files:
                link.unlink()


def test_agents_come_and_go_with_the_configmap(world):
    world.tcp_origin("o.test")
    first, second = world.site.new_agent_address(), world.site.new_agent_address()
    card = {name: json.dumps({"agent_id": name[:-5], "source": [address], "allowed_hosts": ["o.test"]})
            for name, address in (("alpha.json", first), ("beta.json", second))}
    volume = Volume(world.folder / "cards")
    volume.write({"alpha.json": card["alpha.json"]})
    proxy = world.start(agents={"directories": [str(volume.folder)], "watch": True})

    def answer(address):
        return proxy.connect("o.test", world.port, agent=address).status

    assert (answer(first), answer(second)) == (200, 403)
    volume.write(card)
    until(lambda: answer(second) == 200, 20, "the agent whose card came")
    volume.write({"beta.json": card["beta.json"]})
    until(lambda: answer(first) == 403, 20, "the agent whose card went to be unknown")
    assert answer(second) == 200
