// html.h: the account of a comparison as a self-contained HTML page.
#pragma once

#include <string>

#include "compare/account.h"

namespace amdahl::compare {

struct PageFooter {
  std::string when;  // For people.
  std::string host;
  std::string folder;  // With the receipts.
};

// Valid HTML and XML: inline pictures, no scripts, nothing loaded, light or dark by the reader's
// setting. Commands and their output are escaped.
std::string html_page(const Account& account, const PageFooter& imprint);

}  // namespace amdahl::compare
