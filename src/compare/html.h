// html.h: an account of a comparison as a page that needs nothing but itself.
#pragma once

#include <string>

#include "compare/account.h"

namespace amdahl::compare {

struct PageFooter {
  std::string when;  // As people read it.
  std::string host;
  std::string folder;  // Where the receipts are.
};

// Well-formed as HTML and as XML: pictures inline, no scripts, nothing loaded, light and dark by
// the reader's setting. Whatever a command or its output holds is shown as text.
std::string html_page(const Account& account, const PageFooter& imprint);

}  // namespace amdahl::compare
