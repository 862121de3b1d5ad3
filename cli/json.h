// Json: requests to the daemon and its answers, see base/json_value.h.
#pragma once

#include "base/json_value.h"
