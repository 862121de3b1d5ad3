// What a command sees, as a function of what was asked for.
#include "confine/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stile::confine {
namespace {

using Paths = std::vector<std::string>;

PlanRequest in(const std::string& directory) {
  PlanRequest request;
  request.directory = directory;
  request.home = "/home/u";
  request.homes = {"/home/u", "/root"};
  request.system = {"/usr", "/etc", "/opt"};
  return request;
}

const Mount* find(const View& view, const std::string& target) {
  const auto at = std::find_if(view.mounts.begin(), view.mounts.end(),
                               [&](const Mount& mount) { return mount.target == target; });
  return at == view.mounts.end() ? nullptr : &*at;
}

bool covers(const View& view, const std::string& path) {
  return std::find(view.covers.begin(), view.covers.end(), path) != view.covers.end();
}

TEST(ConfinePlan, ShowsTheSystemReadOnlyAndPlacesOfItsOwn) {
  const auto view = plan_view(in("/home/u/project"));
  Paths targets;
  for (const auto& mount : view.mounts) targets.push_back(mount.target);
  EXPECT_EQ(targets, (Paths{"/dev", "/dev/shm", "/etc", "/home/u", "/home/u/project", "/opt",
                            "/proc", "/run", "/sys", "/tmp", "/usr", "/var/tmp"}));
  EXPECT_FALSE(find(view, "/usr")->is_writable);
  EXPECT_EQ(find(view, "/home/u")->content, MountContent::empty);
  EXPECT_EQ(find(view, "/run")->content, MountContent::empty);
  EXPECT_TRUE(covers(view, "/etc/stile"));
  EXPECT_FALSE(covers(view, "/var/lib/stile"));  // nothing there to be covered
}

struct DirectoryCase {
  const char* directory;
  bool is_workspace;
  const char* starts_in;
  const char* why;
};

TEST(ConfinePlan, DecidesAboutTheWorkingDirectory) {
  const DirectoryCase cases[] = {
      {"/home/u/project", true, "/home/u/project", "a project"},
      {"/home/u", false, "/home/u", "a home is not a workspace; an empty one is seen"},
      {"/home", false, "", "it holds a home"},
      {"/", false, "/", "it holds everything"},
      {"/root", false, "", "another home"},
      {"/root/x", true, "/root/x", "below one"},
      {"/tmp", false, "/tmp", "an empty one is seen"},
      {"/tmp/x", true, "/tmp/x", "below it"},
      {"/var", false, "", "it holds a place of the command's own"},
      {"/usr/share", false, "/usr/share", "the system stays read-only"},
      {"/usr/src/app", true, "/usr/src/app", "where images have their sources"},
      {"/opt", false, "/opt", "the system"},
      {"/opt/app", true, "/opt/app", "below it"},
      {"/etc/stile", false, "", "hidden"},
      {"/proc/1", false, "", "the kernel's"},
      {"/srv/hidden/x", false, "", "hidden by the caller"},
      {"/srv/x", true, "/srv/x", "any other"},
  };
  for (const auto& [directory, is_workspace, starts_in, why] : cases) {
    auto request = in(directory);
    request.hidden = {"/srv/hidden"};
    const auto view = plan_view(request);
    const auto* mount = find(view, directory);
    const bool is_shown =
        mount != nullptr && mount->content == MountContent::bind && mount->is_writable;
    EXPECT_EQ(is_shown, is_workspace) << directory << ": " << why;
    EXPECT_EQ(view.directory, starts_in) << directory << ": " << why;
  }
}

TEST(ConfinePlan, TellsWhenTheWorkingDirectoryIsAHome) {
  EXPECT_TRUE(plan_view(in("/home/u")).is_directory_empty);
  EXPECT_TRUE(plan_view(in("/")).is_directory_empty);
  EXPECT_FALSE(plan_view(in("/home/u/project")).is_directory_empty);
  auto named = in("/home/u");
  named.write = {"/home/u"};
  const auto view = plan_view(named);
  EXPECT_FALSE(view.is_directory_empty);
  EXPECT_EQ(find(view, "/home/u")->content, MountContent::bind);
}

TEST(ConfinePlan, SearchesWhatIsNamedAndNotWhatIsExposed) {
  auto request = in("/home/u/project");
  request.read = {"/data"};
  request.write = {"/home/u/.claude"};
  request.expose = {"/run/docker.sock"};
  request.programs = {"/home/u/.nvm"};
  const auto view = plan_view(request);
  EXPECT_EQ(find(view, "/data")->search, Search::all);
  EXPECT_FALSE(find(view, "/data")->is_writable);
  EXPECT_TRUE(find(view, "/home/u/.claude")->is_writable);
  EXPECT_EQ(find(view, "/run/docker.sock")->search, Search::none);
  EXPECT_EQ(find(view, "/home/u/.nvm")->search, Search::top);
  EXPECT_TRUE(find(view, "/data")->is_named);
  EXPECT_FALSE(find(view, "/home/u/.nvm")->is_named);
}

TEST(ConfinePlan, CoversTheDirectoryOfASocketInTheSystem) {
  auto request = in("/home/u/project");
  request.sockets = {"/etc/thing/socket", "/opt/service.sock",  "/usr/lib/x.sock",
                     "/run/docker.sock",  "/home/u/.ssh/agent", "/home/u/project/x.sock",
                     "/etc/shown/socket"};
  request.expose = {"/etc/shown/socket"};
  const auto view = plan_view(request);
  EXPECT_TRUE(covers(view, "/etc/thing"));
  EXPECT_TRUE(covers(view, "/opt/service.sock"));  // /opt itself is needed
  EXPECT_TRUE(covers(view, "/usr/lib/x.sock"));
  EXPECT_TRUE(covers(view, "/home/u/project/x.sock"));
  EXPECT_FALSE(covers(view, "/run/docker.sock"));    // not in the view
  EXPECT_FALSE(covers(view, "/home/u/.ssh/agent"));  // nor this
  EXPECT_FALSE(covers(view, "/etc/shown"));
}

TEST(ConfinePlan, HoldsEveryDirectoryAboveTheLogThatCouldBeRenamed) {
  auto request = in("/home/u/project");
  request.log = "/home/u/project/a/b/audit.jsonl";
  auto view = plan_view(request);
  EXPECT_EQ(view.pins, (Paths{"/home/u/project/a", "/home/u/project/a/b"}));
  EXPECT_TRUE(covers(view, request.log));
  request.log = "/var/log/mine/audit.jsonl";  // not in the view
  view = plan_view(request);
  EXPECT_EQ(view.pins, Paths{});
  EXPECT_FALSE(covers(view, request.log));
  request.write = {"/home/u"};
  request.log = "/home/u/project/audit.jsonl";  // the workspace is a mount point already
  EXPECT_EQ(plan_view(request).pins, Paths{});
  request.log = "/home/u/logs/audit.jsonl";
  EXPECT_EQ(plan_view(request).pins, Paths{"/home/u/logs"});
}

TEST(ConfinePlan, TheHostsFilesComeWithoutSharedPlacesAndSockets) {
  auto request = in("/home/u/project");
  request.files = Files::host;
  request.sockets = {"/home/u/.ssh/agent", "/run/docker.sock"};
  const auto view = plan_view(request);
  EXPECT_TRUE(find(view, "/")->is_writable);
  EXPECT_EQ(find(view, "/run")->content, MountContent::empty);
  EXPECT_EQ(find(view, "/dev")->content, MountContent::devices);
  EXPECT_EQ(find(view, "/home/u"), nullptr);
  EXPECT_EQ(find(view, "/home/u/project")->search, Search::sockets);
  EXPECT_TRUE(covers(view, "/home/u/.ssh/agent"));
  EXPECT_TRUE(covers(view, "/var/lib/stile"));
}

TEST(ConfinePlan, AHomeThatIsThereAlreadyIsNotReplaced) {
  for (const char* home : {"/", "/tmp", "/usr/games", ""}) {
    auto request = in("/srv/x");
    request.home = home;
    const auto view = plan_view(request);
    const auto* mount = find(view, home);
    EXPECT_TRUE(mount == nullptr || mount->target == "/tmp") << home;
  }
}

TEST(ConfinePlan, ACardsWorkspaceIsShownUnderAnotherName) {
  auto request = in("/mnt/agents/a");
  request.directory_at = "/workspace";
  request.read = {"/mnt/agents/a/ro", "/srv/data"};
  request.log = "/mnt/agents/a/logs/audit.jsonl";
  request.hidden = {"/mnt/agents/a/hidden"};
  const auto view = plan_view(request);
  ASSERT_NE(find(view, "/workspace"), nullptr);
  EXPECT_EQ(find(view, "/workspace")->host_path(), "/mnt/agents/a");
  EXPECT_TRUE(find(view, "/workspace")->is_writable);
  EXPECT_EQ(find(view, "/mnt/agents/a"), nullptr);
  ASSERT_NE(find(view, "/workspace/ro"), nullptr);
  EXPECT_EQ(find(view, "/workspace/ro")->host_path(), "/mnt/agents/a/ro");
  EXPECT_FALSE(find(view, "/workspace/ro")->is_writable);
  EXPECT_EQ(find(view, "/srv/data")->host_path(), "/srv/data");
  EXPECT_EQ(view.directory, "/workspace");
  EXPECT_TRUE(covers(view, "/workspace/logs/audit.jsonl") && covers(view, "/workspace/hidden"));
  EXPECT_EQ(view.pins, Paths{"/workspace/logs"});
}

TEST(ConfinePlan, AWorkspaceCanBeReadOnlyOrEmpty) {
  auto request = in("/srv/project");
  request.workspace = Workspace::read_only;
  request.write = {"/srv/project/out"};
  auto view = plan_view(request);
  EXPECT_FALSE(find(view, "/srv/project")->is_writable);
  EXPECT_TRUE(find(view, "/srv/project/out")->is_writable);
  EXPECT_EQ(view.directory, "/srv/project");
  request.workspace = Workspace::none;
  view = plan_view(request);
  EXPECT_EQ(find(view, "/srv/project")->content, MountContent::empty);
  EXPECT_EQ(find(view, "/srv/project/out")->content, MountContent::bind);
  EXPECT_EQ(view.directory, "/srv/project");
}

TEST(ConfinePlan, HidesPrivateFilesEvenIfTheyAreNamed) {
  auto request = in("/home/u/project");
  request.private_files = {"/home/u/project/key", "/srv/key", "/nowhere/key"};
  request.expose = {"/srv"};
  request.read = {"/home/u/project/key"};
  const auto view = plan_view(request);
  EXPECT_TRUE(covers(view, "/home/u/project/key"));
  EXPECT_TRUE(covers(view, "/srv/key"));
  EXPECT_FALSE(covers(view, "/nowhere/key"));
}

}  // namespace
}  // namespace stile::confine
