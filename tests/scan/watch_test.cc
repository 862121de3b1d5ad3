// Watch: the values of secrets and the placeholders, in every encoding, as they change.
#include "scan/watch.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "samples.h"

namespace stile::scan {
namespace {

using namespace samples;

struct Kept {
  std::shared_ptr<acl::Secret> secret = std::make_shared<acl::Secret>();
  Kept() { secret->value = std::make_shared<acl::SecretValue>(); }
  [[nodiscard]] Watch watch() const {
    return {*ScanRules::compile({}), {secret}, {"placeholder-0123"}};
  }
};

TEST(Watch, FindsASecretHoweverItIsEncoded) {
  const Kept kept;
  const std::string value = "pa$$word";  // the shortest that a secret can be
  kept.secret->value->set(value, 1);
  const Watch watch = kept.watch();
  for (const std::string& text :
       {value, "a" + value + "b", base64(value), base64("x" + value), base64("xy" + value + "z"),
        url_base64("user:" + value), hex_of(value), hex_of(value, true), percent(value, false),
        percent(value, true), percent(percent(value, true), true), json_escaped(value),
        base64(base64("some text " + value)), gzip(value)}) {
    EXPECT_EQ(found_in(watch.texts(), text), "secrets") << text;
  }
  EXPECT_EQ(found_in(watch.texts(), "pa$$wor"), "");
}

TEST(Watch, FindsPlaceholders) {
  const Kept kept;
  const Watch watch = kept.watch();
  EXPECT_EQ(found_in(watch.texts(), "x placeholder-0123 y"), "placeholders");
  EXPECT_EQ(found_in(watch.texts(), base64("placeholder-0123")), "placeholders");
  EXPECT_EQ(found_in(watch.texts(), "placeholder-012"), "");
}

TEST(Watch, FollowsTheValue) {
  const Kept kept;
  const Watch watch = kept.watch();
  EXPECT_EQ(found_in(watch.texts(), "first-value"), "");  // there is none yet
  kept.secret->value->set("first-value", 1);
  const auto first = watch.texts();
  EXPECT_EQ(found_in(first, "first-value"), "secrets");
  EXPECT_EQ(watch.texts(), first);  // made once
  kept.secret->value->set("second-value", 2);
  EXPECT_EQ(found_in(watch.texts(), "first-value"), "");
  EXPECT_EQ(found_in(watch.texts(), "second-value"), "secrets");
}

TEST(Watch, FindsALongSecretOverTheEndOfAPiece) {
  const Kept kept;
  const std::string value = random_text(16'384, 1);
  kept.secret->value->set(value, 1);
  const std::string text = std::string(5000, 'x') + value + std::string(5000, 'x');
  for (std::size_t at = 0; at <= text.size(); at += 777) {
    Search search{kept.watch().texts()};
    search.feed(std::string_view{text}.substr(0, at));
    search.feed(std::string_view{text}.substr(at));
    EXPECT_EQ(search.found(), bit_of(secrets_number)) << at;
  }
}

}  // namespace
}  // namespace stile::scan
