// Reading a squid.conf: what is taken, and where and how the rest is refused.
#include <gtest/gtest.h>

#include "tests/squid/memory_files.h"

namespace stile::squid {
namespace {

using test::problems;
using test::read;

TEST(SquidConf, NamesFileLineAndDirectiveOfEveryError) {
  const char* const rows[][2] = {
      {"\n\nfoo bar", "squid.conf:3: foo: is not understood"},
      {"http_acess allow all", "did you mean http_access?"},
      {"Http_Access allow all", "squid.conf:1: Http_Access: is not understood"},
      {"cache_peer 10.0.0.1 parent 3128 0", "cache_peer: is not understood"},
      {"url_rewrite_program /bin/x", "url_rewrite_program: is not understood"},
      {"https_port 3129", "https_port: is not understood"},
      {"never_direct allow all", "understood only as `never_direct deny all`"},
      {"http_reply_access deny all", "understood only as `http_reply_access allow all`"},
      {"icap_enable on", "understood only as `icap_enable off`"},
      {"if true", "if: is not understood"},
      {"acl a src ${service_name}", "macros are not supported"},
      {"http_access", "is written as"},
      {"http_access allow", "is written as"},
      {"http_access permit all", "is written as"},
      {"http_access allow nobody", "there is no acl nobody above this line"},
      {"http_access allow later\nacl later src all", "there is no acl later above this line"},
      {"http_access allow !", "there is no acl "},
      {"acl a", "is written as"},
      {"acl a srcc 10.0.0.1", "there is no acl type srcc"},
      {"acl a src 10.0.0.1\nacl a port 80", "acl a is of type src already"},
      {"acl a time M\nhttp_access allow a", "is of type time, which Stile does not have"},
      {"acl a dstdomain \"none.txt\"", "none.txt: there is no such file"},
      {"acl a dstdomain \"list.txt\" x.com", "reads nothing behind a file name"},
      {"acl a dstdomain \"list.txt", "a file is written as"},
      {"acl a dstdomain \"list.txt\"", "list.txt:2: acl a: "},
      {"acl a dstdomain -i x.com", "there is no option -i"},
      {"acl a dst -n 10.0.0.1", "-n is not supported for dst"},
      {"acl a dstdom_regex x -n y", "there is no option -n"},
      {"include none.conf", "squid.conf:1: include: there is no file none.conf"},
      {"include", "names no file"},
      {"include loop.conf", "more than 16 files deep"},
      {"include bad.conf", "bad.conf:2: foo: is not understood"},
      {"include tail.conf", "the file ends behind a backslash"},
      {"http_access \x01 deny all", "control byte"},
      {"http_port 3128 intercept", "the option intercept is not supported"},
      {"http_port proxy.local:3128", "neither a port nor address:port"},
      {"http_port 99999", "neither a port nor address:port"},
      {"access_log syslog:daemon squid", "is written as stdio:"},
      {"access_log none\naccess_log none", "there can be one access_log only"},
      {"access_log stdio:/a nope", "there is no logformat nope"},
      {"access_log stdio:/a squid somebody", "acls are not supported"},
      {"logformat mine %>zz", "there is no format code %>zz"},
      {"logformat squid %ts", "is built in"},
      {"request_header_access Cookie deny !all", "is supported as"},
      {"request_header_access All deny all", "name each header"},
      {"connect_timeout 10", "a number and a unit"},
      {"connect_timeout 10 parsecs", "a number and a unit"},
      {"via maybe", "is either on or off"},
      {"forwarded_for maybe", "is on, off"},
      {"dns_nameservers ns.example", "dns_nameservers: "},
      {"# stile: sin = off", "# stile: sin: there is no such option"},
      {"# stile: sni", "is not of the form"},
      {"# stile: sni = maybe", "is either off or match"},
      {"# stile: private_exceptions = 127.0.0.0/8", "open only one by one"},
      {"# stile: private_exceptions = ten", "private_exceptions: "},
  };
  const test::Content files{{"list.txt", ".good.example\nbad name\n"},
                            {"loop.conf", "include loop.conf\n"},
                            {"bad.conf", "\nfoo\n"},
                            {"tail.conf", "http_access deny all \\"}};
  for (const auto& [text, expected] : rows) {
    EXPECT_NE(problems(text, files).find(expected), std::string::npos)
        << text << "\n  says: " << problems(text, files);
  }
}

TEST(SquidConf, SaysAllThatIsWrongAtOnce) {
  const std::string all = problems("foo\nhttp_access allow nobody\nacl a port x");
  EXPECT_NE(all.find("squid.conf:1:"), all.npos);
  EXPECT_NE(all.find("squid.conf:2:"), all.npos);
  EXPECT_NE(all.find("squid.conf:3:"), all.npos);
}

TEST(SquidConf, ReadsTheSettingsOfTheDaemon) {
  const auto conf = read(
      "#!/nix/store/bin/sh\r\n"
      "http_port 127.0.0.1:3129 name=inner\n"
      "access_log stdio:/var/log/x.log mine\n"
      "logformat mine %ts %#ru\n"
      "request_header_access Authorization deny all\n"
      "request_header_access Cookie allow all\n"
      "request_header_access Cookie deny all\n"
      "dns_nameservers 10.0.0.53 ::1\n"
      "hosts_file none\n"
      "pid_filename none\n"
      "cache_effective_user squid squid\n"
      "connect_timeout 2 minutes\n"
      "shutdown_lifetime 5 seconds\n"
      "via off\nforwarded_for transparent\nvisible_hostname proxy\n"
      "cache_mem 64 MB\ncache_mem 64 MB\nhttp_reply_access allow all\nicp_port 0\n"
      "# stile: sni = off\n#stile:ip_literals=allow\n"
      "# stile: private_exceptions = 10.0.0.0/8, 127.0.0.9\n# stile: metrics = 127.0.0.1:9128\n");
  ASSERT_TRUE(conf) << conf.error().text();
  ASSERT_EQ(conf->listen.size(), 2u);
  EXPECT_EQ(conf->listen[0].text(), "127.0.0.1:3129");
  EXPECT_EQ(conf->listen[1].text(), "[::]:3128");
  EXPECT_EQ(conf->log_path, "/var/log/x.log");
  EXPECT_EQ(conf->log_style, LogStyle::custom);
  EXPECT_EQ(conf->log_format, "%ts %#ru");
  EXPECT_EQ(conf->denied_headers, std::vector<std::string>{"authorization"});
  EXPECT_EQ(conf->dns_servers.size(), 2u);
  EXPECT_EQ(conf->hosts_file, "");
  EXPECT_EQ(conf->pid_file, "");
  EXPECT_EQ(conf->user, "squid");
  EXPECT_EQ(conf->connect_timeout.count(), 120'000);
  EXPECT_EQ(conf->shutdown_lifetime.count(), 5000);
  EXPECT_FALSE(conf->adds_via);
  EXPECT_TRUE(conf->passes_forwarded_for);
  EXPECT_FALSE(conf->checks_sni);
  EXPECT_TRUE(conf->literals_pass);
  EXPECT_EQ(conf->private_exceptions.size(), 2u);
  EXPECT_EQ(conf->metrics->text(), "127.0.0.1:9128");
  EXPECT_EQ(std::count(conf->notes.begin(), conf->notes.end(),
                       "cache_mem has no effect: nothing is cached"),
            1);
}

TEST(SquidConf, ListsWhatIsAddedUnlessTurnedOff) {
  const auto strict = read(""), open = read("# stile: sni = off\n# stile: ip_literals = allow\n");
  ASSERT_TRUE(strict && open);
  EXPECT_EQ(additions(*strict).size(), additions(*open).size() + 2);
}

TEST(SquidConf, ReadsIncludedFilesInTheirPlace) {
  const auto conf =
      read("http_access deny !all\ninclude conf.d/*\nhttp_access allow all",
           {{"conf.d/a", "http_access deny CONNECT\n"}, {"conf.d/b", "http_access allow manager"}});
  ASSERT_TRUE(conf) << conf.error().text();
  ASSERT_EQ(conf->access.size(), 4u);
  EXPECT_EQ(conf->access[1].text, "http_access deny CONNECT");
  EXPECT_EQ(conf->access[2].place.file, "conf.d/b");
}

TEST(SquidConf, JoinsLinesAndSkipsComments) {
  const auto conf =
      read("  acl  a\tsrc \\\n# between\n  10.0.0.1 # behind\nhttp_access allow a#b\n");
  EXPECT_FALSE(conf);  // `a#b` is one word, as in squid
  const auto good =
      read("  acl  a\tsrc \\\n# between\n  10.0.0.1 # behind\nhttp_access allow a #b\n");
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_EQ(good->access[0].place.line, 4u);
}

TEST(SquidConf, PassesOverOldDefinitionsOfBuiltInAcls) {
  const auto conf = read(
      "acl all src all\nacl manager proto cache_object\nacl localhost src 127.0.0.1/32 ::1\n"
      "acl CONNECT method CONNECT\nacl QUERY urlpath_regex cgi-bin\ncache deny QUERY\n");
  EXPECT_TRUE(conf) << conf.error().text();
}

TEST(SquidConf, NeedsAPort) {
  const test::Content files{{"squid.conf", "http_access allow all\n"}};
  const auto conf = parse("squid.conf", test::memory_files(files));
  ASSERT_FALSE(conf);
  EXPECT_NE(conf.error().text().find("has no http_port"), std::string::npos);
}

}  // namespace
}  // namespace stile::squid
