// WebClient: the error that every route answers with.
#include "web/client.h"

#include "base/json.h"

namespace stile::web {

HttpAnswer error_answer(unsigned status, std::string_view code, std::string_view message) {
  HttpAnswer answer{status, json_type, {}};
  {
    JsonObject object{answer.body};
    object.add("ok", false);
    JsonObject error{object.key("error")};
    error.add("code", code).add("message", message);
  }
  return answer;
}

}  // namespace stile::web
