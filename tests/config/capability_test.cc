// Capabilities: what each of the shipped ones allows, and what it refuses beside that.
#include "config/capability.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "acl/host_key.h"
#include "config/compile.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

const std::vector<std::string> shipped{STILE_ROOT "/capabilities"};

Capabilities load_shipped() {
  auto loaded = Capabilities::load(shipped, ::geteuid());
  EXPECT_TRUE(loaded) << loaded.error().text();
  return loaded ? std::move(*loaded) : Capabilities{};
}

struct Asked {
  const char* can;
  const char* request;  // "GET host/path?query"
  acl::Reason reason;
};
constexpr auto fine = acl::Reason::none;
constexpr auto no_path = acl::Reason::path_not_allowed;
constexpr auto no_method = acl::Reason::method_not_allowed;
constexpr auto no_host = acl::Reason::host_not_allowed;

acl::Reason judge(const char* can, std::string_view request, std::uint16_t port = 443) {
  ::setenv("STILE_CAPABILITIES", shipped[0].c_str(), 1);
  AgentSettings agent;
  agent.id = "alpha";
  agent.can = {{can, 7, 1}};
  CapabilityFiles files{::geteuid()};
  Diagnostics problems;
  const auto inside = compile_inside(agent, Secrets{}, files, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.text();
  const auto space = request.find(' '), slash = request.find('/');
  const auto mark = request.find('?');
  const auto host = acl::parse_host(request.substr(space + 1, slash - space - 1));
  const acl::HostKey key{host.host};
  acl::RequestFacts facts;
  facts.names_tunnel = true;
  facts.method = request.substr(0, space);
  facts.path = request.substr(slash, mark - slash);
  if (mark != std::string_view::npos) facts.query = request.substr(mark + 1);
  facts.target = request.substr(slash);
  if (!inside->opens(key, port)) return no_host;
  acl::RequestTerms terms;
  return acl::judge_request(*inside, key, port, facts, terms).reason;
}

const Asked table[] = {
    {"anthropic:messages", "POST api.anthropic.com/v1/messages?beta=true", fine},
    {"anthropic:messages", "POST api.anthropic.com/v1/messages/count_tokens", fine},
    {"anthropic:messages", "GET api.anthropic.com/v1/models", fine},
    {"anthropic:messages", "POST api.anthropic.com/v1/messages/batches", no_path},
    {"anthropic:messages", "POST api.anthropic.com/v1/files", no_path},
    {"anthropic:messages", "GET api.anthropic.com/v1/organizations/api_keys", no_path},
    {"anthropic:messages", "DELETE api.anthropic.com/v1/messages", no_method},
    {"anthropic:messages", "POST console.anthropic.com/v1/messages", no_host},
    {"openai:responses", "POST api.openai.com/v1/responses", fine},
    {"openai:responses", "GET api.openai.com/v1/responses/resp_1", fine},
    {"openai:responses", "POST api.openai.com/v1/files", no_path},
    {"openai:responses", "DELETE api.openai.com/v1/responses/resp_1", no_method},
    {"gemini:generate", "POST generativelanguage.googleapis.com/v1beta/models/g:generateContent",
     fine},
    {"gemini:generate",
     "POST generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse", fine},
    {"gemini:generate",
     "POST generativelanguage.googleapis.com/v1beta/models/g:generateContent?key=AIza", no_path},
    {"gemini:generate", "POST generativelanguage.googleapis.com/upload/v1beta/files", no_path},
    {"github:read acme/app", "GET api.github.com/repos/acme/app", fine},
    {"github:read acme/app", "HEAD api.github.com/repos/acme/app/contents/README.md?ref=main",
     fine},
    {"github:read acme/app", "GET codeload.github.com/acme/app/tar.gz/refs/heads/main", fine},
    {"github:read acme/app", "GET raw.githubusercontent.com/acme/app/main/README.md", fine},
    {"github:read acme/app", "GET github.com/acme/app/releases/download/v1/app.tgz", fine},
    {"github:read acme/app",
     "GET objects.githubusercontent.com/github-production-release-asset-2e65be/1/x?X-Amz=1", fine},
    {"github:read acme/app", "GET api.github.com/repos/acme/apple", no_path},
    {"github:read acme/app", "GET api.github.com/repos/acme/app.git", no_path},
    {"github:read acme/app", "GET api.github.com/repos/other/app", no_path},
    {"github:read acme/app", "GET api.github.com/user", no_path},
    {"github:read acme/app", "GET api.github.com/gists", no_path},
    {"github:read acme/app", "GET raw.githubusercontent.com/evil/app/main/x", no_path},
    {"github:read acme/app", "GET gist.githubusercontent.com/acme/app/raw", no_host},
    {"github:read acme/app", "GET uploads.github.com/repos/acme/app/releases/1/assets", no_host},
    {"github:read acme/app", "POST api.github.com/graphql", no_method},
    {"github:read acme/app", "POST api.github.com/repos/acme/app/issues", no_method},
    {"github:read acme/app", "DELETE api.github.com/repos/acme/app", no_method},
    {"github:read acme/app", "POST github.com/acme/app/git-receive-pack", no_method},
    {"github:read acme/*", "GET api.github.com/repos/acme/other/issues", fine},
    {"github:read acme/*", "GET api.github.com/repos/acme", no_path},
    {"github:read acme/*", "GET api.github.com/repos/other/app", no_path},
    {"github:graphql", "POST api.github.com/graphql", fine},
    {"github:graphql", "POST api.github.com/graphql?query=x", no_path},
    {"github:graphql", "GET api.github.com/graphql", no_method},
    {"github:graphql", "POST api.github.com/gists", no_path},
    {"github:issues acme/app", "POST api.github.com/repos/acme/app/issues", fine},
    {"github:issues acme/app", "POST api.github.com/repos/acme/app/issues/7/comments", fine},
    {"github:issues acme/app", "PATCH api.github.com/repos/acme/app/issues/7", fine},
    {"github:issues acme/app", "GET api.github.com/repos/acme/app/issues?state=open", fine},
    {"github:issues acme/app", "POST api.github.com/repos/acme/app/pulls", no_path},
    {"github:issues acme/app", "POST api.github.com/repos/acme/app/releases", no_path},
    {"github:issues acme/app", "PATCH api.github.com/repos/acme/app", no_path},
    {"github:issues acme/app", "PUT api.github.com/repos/acme/app/issues/7/lock", no_method},
    {"github:issues acme/app", "DELETE api.github.com/repos/acme/app/issues/comments/1", no_method},
    {"github:issues acme/app", "GET api.github.com/repos/acme/app/contents/x", no_path},
    {"github:issues acme/app", "POST api.github.com/gists", no_path},
    {"git:fetch github.com/acme/app",
     "GET github.com/acme/app.git/info/refs?service=git-upload-pack", fine},
    {"git:fetch github.com/acme/app.git",
     "GET github.com/acme/app/info/refs?service=git-upload-pack", fine},
    {"git:fetch github.com/acme/app", "POST github.com/acme/app.git/git-upload-pack", fine},
    {"git:fetch github.com/acme/*", "POST github.com/acme/other.git/git-upload-pack", fine},
    {"git:fetch gitlab.com/group/sub/app", "POST gitlab.com/group/sub/app.git/git-upload-pack",
     fine},
    {"git:fetch github.com/acme/app",
     "GET github.com/acme/app.git/info/refs?service=git-receive-pack", no_path},
    {"git:fetch github.com/acme/app", "GET github.com/acme/app.git/info/refs", no_path},
    {"git:fetch github.com/acme/app",
     "GET github.com/acme/app.git/info/refs?service=git-upload-pack&service=git-receive-pack",
     no_path},
    {"git:fetch github.com/acme/app", "POST github.com/acme/app.git/git-receive-pack", no_path},
    {"git:fetch github.com/acme/app", "POST github.com/acme/app.git/info/lfs/objects/batch",
     no_path},
    {"git:fetch github.com/acme/app", "POST github.com/acme/apple.git/git-upload-pack", no_path},
    {"git:fetch github.com/acme/app", "GET github.com/acme/app", no_path},
    {"git:push github.com/acme/app refs/heads/agent/*",
     "GET github.com/acme/app.git/info/refs?service=git-receive-pack", fine},
    {"git:push github.com/acme/app refs/heads/agent/*", "POST github.com/acme/app/git-receive-pack",
     fine},
    {"git:push github.com/acme/app refs/heads/agent/*",
     "POST github.com/acme/other/git-receive-pack", no_path},
    {"git:push github.com/acme/app refs/heads/agent/*",
     "GET github.com/acme/app.git/info/refs?service=git-upload-pack", no_path},
    {"git:push github.com/acme/app refs/heads/agent/*", "POST github.com/acme/app/git-upload-pack",
     no_path},
    {"npm:install", "GET registry.npmjs.org/left-pad", fine},
    {"npm:install", "GET registry.npmjs.org/@types%2fnode", fine},
    {"npm:install", "GET registry.npmjs.org/@types/node", fine},
    {"npm:install", "GET registry.npmjs.org/@types/node/-/node-1.0.0.tgz", fine},
    {"npm:install", "GET registry.npmjs.org/left-pad/-/left-pad-1.0.0.tgz", fine},
    {"npm:install", "PUT registry.npmjs.org/left-pad", no_method},
    {"npm:install", "PUT registry.npmjs.org/-/user/org.couchdb.user:x", no_method},
    {"npm:install", "POST registry.npmjs.org/-/npm/v1/security/advisories/bulk", no_method},
    {"npm:install", "GET registry.npmjs.org/-/npm/v1/tokens", no_path},
    {"npm:install", "GET registry.npmjs.org/-/whoami", no_path},
    {"pypi:install", "GET pypi.org/simple/requests/", fine},
    {"pypi:install", "GET files.pythonhosted.org/packages/aa/bb/x-1.0-py3-none-any.whl", fine},
    {"pypi:install", "GET pypi.org/manage/account/", no_path},
    {"pypi:install", "POST pypi.org/simple/requests/", no_method},
    {"pypi:install", "POST upload.pypi.org/legacy/", no_host},
    {"crates:fetch", "GET index.crates.io/config.json", fine},
    {"crates:fetch", "GET index.crates.io/se/rd/serde", fine},
    {"crates:fetch", "GET index.crates.io/3/s/syn", fine},
    {"crates:fetch", "GET static.crates.io/crates/serde/1.0.0/download", fine},
    {"crates:fetch", "GET static.crates.io/crates/serde/serde-1.0.0.crate", fine},
    {"crates:fetch", "GET crates.io/api/v1/crates/serde/1.0.0/download", fine},
    {"crates:fetch", "PUT crates.io/api/v1/crates/new", no_method},
    {"crates:fetch", "GET crates.io/api/v1/me/tokens", no_path},
    {"go:fetch", "GET proxy.golang.org/github.com/!burnt!sushi/toml/@v/v1.0.0.zip", fine},
    {"go:fetch", "GET proxy.golang.org/golang.org/x/net/@v/list", fine},
    {"go:fetch", "GET sum.golang.org/lookup/golang.org/x/net@v0.1.0", fine},
    {"go:fetch", "GET storage.googleapis.com/proxy-golang-org-prod/1-x.zip?Expires=1", fine},
    {"go:fetch", "GET storage.googleapis.com/evil-bucket/x", no_path},
    {"go:fetch", "PUT storage.googleapis.com/proxy-golang-org-prod/x", no_method},
    {"debian:install", "GET deb.debian.org/debian/dists/bookworm/InRelease", fine},
    {"debian:install", "GET deb.debian.org/other/x", no_path},
    {"debian:install", "POST deb.debian.org/debian/x", no_method},
    {"docker:pull library/alpine", "GET auth.docker.io/token?service=registry.docker.io", fine},
    {"docker:pull library/alpine", "GET registry-1.docker.io/v2/", fine},
    {"docker:pull library/alpine", "HEAD registry-1.docker.io/v2/library/alpine/manifests/latest",
     fine},
    {"docker:pull library/alpine", "GET registry-1.docker.io/v2/library/alpine/blobs/sha256:00",
     fine},
    {"docker:pull library/alpine", "GET production.cloudflare.docker.com/registry-v2/x/data", fine},
    {"docker:pull library/alpine", "GET registry-1.docker.io/v2/evil/app/manifests/latest",
     no_path},
    {"docker:pull library/alpine", "POST registry-1.docker.io/v2/library/alpine/blobs/uploads/",
     no_method},
    {"docker:pull library/alpine", "PUT registry-1.docker.io/v2/library/alpine/manifests/x",
     no_method},
    {"docker:pull library/alpine", "GET registry-1.docker.io/v2/_catalog", no_path},
    {"docker:pull library/alpine", "POST auth.docker.io/token", no_method},
    {"huggingface:download acme/model", "HEAD huggingface.co/acme/model/resolve/main/a.bin", fine},
    {"huggingface:download acme/model", "GET huggingface.co/api/models/acme/model/tree/main", fine},
    {"huggingface:download acme/model", "GET cdn-lfs-us-1.hf.co/repos/aa/bb?Signature=1", fine},
    {"huggingface:download acme/model", "GET cas-bridge.xethub.hf.co/xet-bridge-us/x", fine},
    {"huggingface:download acme/model", "GET huggingface.co/other/model/resolve/main/a", no_path},
    {"huggingface:download acme/model", "GET huggingface.co/api/whoami-v2", no_path},
    {"huggingface:download acme/model",
     "GET huggingface.co/api/models/acme/model/xet-write-token/main", no_path},
    {"huggingface:download acme/model", "POST huggingface.co/api/repos/create", no_method},
    {"huggingface:download acme/model", "POST cas-server.xethub.hf.co/shards", no_method},
    {"huggingface:download acme/model", "PUT cdn-lfs.hf.co/x", no_method},
};

TEST(Capability, AllowsWhatItsClientsNeedAndNothingBeside) {
  for (const auto& [can, request, reason] : table) {
    EXPECT_EQ(acl::text(judge(can, request)), acl::text(reason)) << can << ": " << request;
  }
}

TEST(Capability, CoversPlainHttpOnlyWhereItSaysSo) {
  EXPECT_EQ(judge("debian:install", "GET deb.debian.org/debian/x", 80), fine);
  AgentSettings agent;
  agent.id = "alpha";
  agent.can = {{"debian:install", 1, 1}, {"pypi:install", 1, 1}};
  ::setenv("STILE_CAPABILITIES", shipped[0].c_str(), 1);
  CapabilityFiles files{::geteuid()};
  Diagnostics problems;
  const auto inside = compile_inside(agent, Secrets{}, files, problems);
  std::string patterns;
  for (std::uint32_t i = 0; i < inside->request_hosts->size(); ++i) {
    patterns.append(acl::RuleRef{inside->request_hosts.get(), i}.pattern()) += ' ';
  }
  EXPECT_EQ(patterns,
            "deb.debian.org http://deb.debian.org security.debian.org http://security.debian.org "
            "pypi.org files.pythonhosted.org ");
}

TEST(Capability, EveryOneOfTheContractIsShipped) {
  const auto all = load_shipped();
  for (const auto* name :
       {"anthropic:messages", "openai:responses", "gemini:generate", "github:read", "github:issues",
        "git:push", "git:fetch", "npm:install", "pypi:install", "crates:fetch", "go:fetch",
        "debian:install", "docker:pull", "huggingface:download"}) {
    EXPECT_NE(all.find(name), nullptr) << name;
  }
  for (const auto& [name, capability] : all.all()) {
    const auto begin = std::string{name.substr(0, name.find(':'))} + ".toml";
    EXPECT_TRUE(capability.place.file.ends_with('/' + begin)) << name << ": in another file";
  }
}

TEST(Capability, APushHasItsRefs) {
  const auto all = load_shipped();
  const auto requests =
      all.expand("git:push github.com/acme/app refs/heads/agent/* refs/tags/agent-*");
  ASSERT_TRUE(requests) << requests.error().message;
  ASSERT_EQ(requests->size(), 2U);
  EXPECT_TRUE((*requests)[0].refs.empty());
  ASSERT_EQ((*requests)[1].refs.size(), 2U);
  EXPECT_EQ((*requests)[1].refs[1].text(), "refs/tags/agent-*");
  EXPECT_FALSE((*requests)[1].max_body);
}

TEST(Capability, SeveralPushesToOneRepositoryAddUp) {
  ::setenv("STILE_CAPABILITIES", shipped[0].c_str(), 1);
  AgentSettings agent;
  agent.id = "alpha";
  agent.can = {{"git:push a.test/x/y refs/heads/a/*", 1, 1},
               {"git:push a.test/x/y refs/heads/b/*", 2, 1}};
  CapabilityFiles files{::geteuid()};
  Diagnostics problems;
  const auto inside = compile_inside(agent, Secrets{}, files, problems);
  ASSERT_TRUE(inside) << problems.text();
  const auto host = acl::parse_host("a.test");
  acl::RequestFacts facts;
  facts.names_tunnel = true;
  facts.method = "POST";
  facts.path = facts.target = "/x/y/git-receive-pack";
  acl::RequestTerms terms;
  EXPECT_EQ(acl::judge_request(*inside, acl::HostKey{host.host}, 443, facts, terms).reason, fine);
  const std::vector<acl::PushCommand> both{{"refs/heads/a/1", false}, {"refs/heads/b/1", false}};
  EXPECT_EQ(acl::judge_push(terms, both), "");
  const std::vector<acl::PushCommand> other{{"refs/heads/c/1", false}};
  EXPECT_NE(acl::judge_push(terms, other), "");
}

TEST(Capability, AReadingRequestHasNoBody) {
  const auto requests = load_shipped().expand("pypi:install");
  ASSERT_TRUE(requests);
  EXPECT_EQ((*requests)[0].max_body, 0U);
}

TEST(Capability, RefusesParametersThatCouldWiden) {
  const auto all = load_shipped();
  for (const auto* can : {"github:read ../app",
                          "github:read acme/..",
                          "github:read acme/.",
                          "github:read */app",
                          "github:read *",
                          "github:read acme/a*",
                          "github:read acme/**",
                          "github:read acme/a%2fb",
                          "github:read acme",
                          "github:read acme/app/x",
                          "github:read /app",
                          "github:read acme/",
                          "github:read acme/a?b",
                          "github:read acme/a#b",
                          "github:read {repository}/x",
                          "github:read acme/\xc3\xa4",
                          "github:read",
                          "github:read acme/app more",
                          "git:fetch github.com",
                          "git:fetch github.com/",
                          "git:fetch github.com/*",
                          "git:fetch *.com/acme/app",
                          "git:fetch .github.com/acme/app",
                          "git:fetch */acme/app",
                          "git:fetch http://github.com/acme/app",
                          "git:fetch github.com/acme/*/app",
                          "git:fetch github.com/acme/..",
                          "git:fetch github.com:x/acme/app",
                          "git:push github.com/acme/app",
                          "git:push github.com/acme/app main",
                          "git:push github.com/acme/app refs/heads/a refs/heads/..",
                          "docker:pull alpine",
                          "docker:pull library/*",
                          "docker:pull ghcr.io/acme/app",
                          "huggingface:download *",
                          "huggingface:download a/b/c",
                          "npm:install left-pad",
                          "",
                          " ",
                          "github",
                          "github:",
                          "github:reed acme/app"}) {
    EXPECT_FALSE(all.expand(can)) << can;
  }
  EXPECT_TRUE(all.expand("git:fetch git.example:8443/a/b/c"));
  EXPECT_TRUE(all.expand("github:read acme/.github"));
  EXPECT_TRUE(all.expand("  github:read   acme/app "));
}

TEST(Capability, AnErrorSaysWhatToWrite) {
  const auto all = load_shipped();
  EXPECT_EQ(all.expand("github:reed a/b").error().message,
            "there is no capability 'github:reed'; did you mean github:read?");
  EXPECT_EQ(all.expand("github:read").error().message,
            "a parameter is missing; write 'github:read OWNER/NAME'");
  EXPECT_EQ(all.expand("github:read acme/..").error().message,
            "'acme/..' is not an owner and a name like acme/app or acme/*; write 'github:read "
            "OWNER/NAME'");
}

TEST(Capability, AnErrorInAnEntryHasItsFileAndLine) {
  ::setenv("STILE_CAPABILITIES", shipped[0].c_str(), 1);
  const auto loaded = load_text("[[agent]]\nid = 'a'\ncan = ['github:read acme/..']\n", "x.toml");
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto shared = share(*loaded);
  const auto compiled = compile_agent(loaded->settings.agent[0], shared);
  ASSERT_FALSE(compiled);
  EXPECT_TRUE(compiled.error().text().starts_with("x.toml:3:8: agent.can: "))
      << compiled.error().text();
}

TEST(Capability, AFileOfTheOperatorReplacesAShippedOne) {
  const TempFolder folder;
  folder.write("mine.toml",
               "[[capability]]\nname = 'npm:install'\nabout = 'mine'\ncannot_prevent = ['much']\n"
               "[[capability.request]]\nhost = 'npm.example'\n");
  const auto all = Capabilities::load({shipped[0], folder.path()}, ::geteuid());
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->find("npm:install")->about, "mine");
  EXPECT_NE(all->find("pypi:install"), nullptr);
}

TEST(Capability, FilesAreReadStrictly) {
  const std::string start = "[[capability]]\nname = 'a:b'\nabout = 'x'\ncannot_prevent = ['y']\n";
  struct Case {
    std::string text;
    const char* problem;
  };
  const Case cases[] = {
      {"[[capabilty]]\nname = 'a:b'", "capabilty: unknown key; did you mean capability?"},
      {start, "capability: request is missing"},
      {"[[capability]]\nname = 'ab'\n", "'ab' is not a name like github:read"},
      {start + "parametres = []\n", "x.toml:5:1: capability.parametres: unknown key"},
      {start + "parameters = ['repo']\n", "is not a form of parameters"},
      {start + "parameters = ['name', 'name']\n", "is listed twice"},
      {start + "[[capability.request]]\nhost = 'a.test'\npath = ['/x']\n",
       "x.toml:7:1: capability.request.path: unknown key; did you mean paths?"},
      {start + "[[capability.request]]\nhost = 'a.test'\npaths = ['/{name}']\n",
       "names a parameter that the capability does not have"},
      {start + "[[capability.request]]\nhost = 'a.test'\npaths = ['x']\n", "does not begin with /"},
      {start + "[[capability.request]]\nhost = 'a.test'\npaths = ['/a/../b']\n", "x.toml:7:10: "},
      {start + "[[capability.request]]\npaths = ['/x']\n", "host is missing"},
      {start + "[[capability.request]]\nhost = 'a.test'\nquery = ['a b']\n", "is not a query"},
      {start + "secret = {heder = 'x'}\n", "did you mean header?"},
      {start + "[[capability.request]]\nhost = 'a.test'\n" + start +
           "[[capability.request]]\nhost = 'a.test'\n",
       "'a:b' is taken"},
  };
  for (const auto& [text, problem] : cases) {
    const auto parsed = parse_capabilities(text, "x.toml");
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().text().find(problem), std::string::npos) << text << '\n'
                                                                      << parsed.error().text();
  }
}

}  // namespace
}  // namespace stile::config
