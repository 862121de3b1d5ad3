// ChangedFiles: what a task left in its worker's workspace.
#include "worker/changed_files.h"

#include "base/utf8.h"

namespace stile::worker {

void add_files(JsonObject& object, const ChangedFiles& changed) {
  {
    JsonArray list{object.key("files")};
    for (const auto& file : changed.files) {
      JsonObject{list.next()}
          .add("name", valid_utf8(file.name))
          .add("size", file.size)
          .add("is_dir", false)
          .add("modified_at", file.modified_at);
    }
  }
  object.add("truncated", changed.is_cut);
}

}  // namespace stile::worker
