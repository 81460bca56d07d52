#include "base/redact.h"
namespace amdahl {}
