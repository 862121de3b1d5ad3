// environment: the variables of a command.
#include "confine/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace stile::confine {
namespace {

std::map<std::string, std::string> variables(const std::vector<std::string>& given) {
  const std::vector<std::string> writable{"/work"};
  std::map<std::string, std::string> result;
  for (const auto& variable :
       agent_environment({given, "http://10.200.0.1:3128", "/root", {}, writable, {}})) {
    const auto at = variable.find('=');
    EXPECT_TRUE(result.emplace(variable.substr(0, at), variable.substr(at + 1)).second) << variable;
  }
  return result;
}

TEST(ConfineEnvironment, SetsTheProxyInBothCases) {
  const auto set = variables({});
  for (const auto* name :
       {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
    EXPECT_EQ(set.at(name), "http://10.200.0.1:3128") << name;
  }
  EXPECT_EQ(set.at("NO_PROXY"), set.at("no_proxy"));
  EXPECT_EQ(set.at("NODE_USE_ENV_PROXY"), "1");
  EXPECT_EQ(set.at("HOME"), "/root");
}

TEST(ConfineEnvironment, ReplacesAProxyOfTheCallerAndKeepsTheRest) {
  const auto set =
      variables({"https_proxy=http://elsewhere:1", "NO_PROXY=*", "TERM=xterm", "EMPTY="});
  EXPECT_EQ(set.at("https_proxy"), "http://10.200.0.1:3128");
  EXPECT_NE(set.at("NO_PROXY"), "*");
  EXPECT_EQ(set.at("TERM"), "xterm");
  EXPECT_EQ(set.at("EMPTY"), "");
}

TEST(ConfineEnvironment, DropsTheWaysToSocketsOfTheCaller) {
  const auto set =
      variables({"SSH_AUTH_SOCK=/tmp/x", "DOCKER_HOST=unix:///x", "XDG_RUNTIME_DIR=/run/user/0",
                 "DBUS_SESSION_BUS_ADDRESS=unix:path=/x", "LISTEN_FDS=3", "NOTIFY_SOCKET=@x",
                 "STILE_SOCKET=/x"});
  for (const auto* name :
       {"SSH_AUTH_SOCK", "DOCKER_HOST", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "LISTEN_FDS",
        "NOTIFY_SOCKET", "STILE_SOCKET"}) {
    EXPECT_EQ(set.count(name), 0U) << name;
  }
}

TEST(ConfineEnvironment, DropsADirectoryForTemporaryFilesThatDoesNotExistInside) {
  const auto set = variables({"TMPDIR=/run/user/1000/t", "TMP=/work/t", "TEMP=/tmp"});
  EXPECT_EQ(set.count("TMPDIR"), 0U);
  EXPECT_EQ(set.at("TMP"), "/work/t");
  EXPECT_EQ(set.at("TEMP"), "/tmp");
}

TEST(ConfineEnvironment, TellsTheCommandThatItIsConfined) {
  EXPECT_EQ(variables({"AGENT_IN_SANDBOX=0"}).at("AGENT_IN_SANDBOX"), "1");
}

}  // namespace
}  // namespace stile::confine
