#include "base/html.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/hash.h"

namespace amdahl {

std::span<const Embedded> embedded_colours();

namespace {

// After the palette that reports share with the dashboard: web/src/colours.css.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --none: var(--free); --gain: var(--good); --loss: var(--bad);
  --curve: var(--info); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 78rem; padding: 1.8rem 1.25rem 3rem; background: var(--ground);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.55rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 .5rem;
  overflow-wrap: anywhere; }
@media (max-width: 40rem) { td.words:last-child:not(:first-child) { min-width: 16rem; } }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.scroll, .facts div { background: var(--card); border: 1px solid var(--line); border-radius: .8rem;
  box-shadow: var(--shadow); }
.scroll { overflow-x: auto; padding: .4rem .8rem; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; } tbody tr:hover { background: var(--raised); }
th { color: var(--soft); font-weight: 600; font-size: .86em; }
td.words, th.words { text-align: left; overflow-wrap: anywhere; min-width: 7rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre { font: .85em/1.45 ui-monospace, monospace; overflow-x: auto; }
svg { display: block; } .grid { stroke: var(--line); }
.label { fill: var(--soft); font-size: 12px; }
.soft, .key { color: var(--soft); font-size: .9rem; }
summary { cursor: pointer; } footer { color: var(--soft); font-size: .85rem; margin-top: 2.5rem; }
@media print { body { max-width: none; padding: 0; background: none; }
  .scroll, .facts div { box-shadow: none; } h3, svg, tr { break-inside: avoid; }
  .scroll { overflow: visible; } }
)";

// The number of bytes of the code point that starts here; 0 if it is invalid or not allowed in a
// page. Command output need not be UTF-8.
std::size_t code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  if (byte(0) < 0x80) return byte(0) < 0x20 || byte(0) == 0x7F ? 0 : 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : byte(0) >= 0xC2 ? 2 : 0;
  if (length == 0 || byte(0) > 0xF4) return 0;
  std::uint32_t code = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool control = code < 0xA0 || (code & 0xFFFEU) == 0xFFFE;
  return code < kLeast[length] || code > 0x10FFFF || surrogate || control ? 0 : length;
}

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, escape_html(value));
}

std::string base64(const Digest& digest) {
  constexpr std::string_view kSigns =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < digest.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < digest.size() ? digest[at] : 0;
    };
    const unsigned bits = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (unsigned k = 0; k < 4; ++k) {
      text += i + k > digest.size() ? '=' : kSigns[bits >> (18U - 6U * k) & 0x3FU];
    }
  }
  return text;
}

// As a policy names what stands in the page.
std::string source_of(std::string_view text) {
  return fmt::format("'sha256-{}'", base64(sha256(text)));
}

std::string_view palette() { return embedded_colours().front().bytes; }

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = code_point_at(text, i);
    const std::string_view sign = text.substr(i, std::max<std::size_t>(1, length));
    i += sign.size();
    if (sign == "&") {
      result += "&amp;";
    } else if (sign == "<") {
      result += "&lt;";
    } else if (sign == ">") {
      result += "&gt;";
    } else if (sign == "\"") {
      result += "&quot;";
    } else {
      result += length == 0 ? "?" : sign;
    }
  }
  return result;
}

std::string html_script(std::string_view script) {
  return fmt::format("<script>{}</script>\n", script);
}

std::string html_head(std::string_view title, std::string_view more_style,
                      std::string_view script) {
  const std::string policy = fmt::format(
      "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; "
      "form-action 'none'",
      source_of(fmt::format("{}{}{}", palette(), kStyle, more_style)),
      script.empty() ? "'none'" : source_of(script));
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>{}{}{}</style>\n</head>\n<body>\n",
      policy, escape_html(title), palette(), kStyle, more_style);
}

HtmlTable::HtmlTable(std::span<const HtmlColumn> columns, std::string_view id) : columns_{columns} {
  out_ = fmt::format("<div class=\"scroll\"><table{}>\n<thead><tr>", attribute("id", id));
  for (const HtmlColumn& column : columns_) {
    out_ += fmt::format("<th{}{}>{}</th>", attribute("class", column.words ? "words" : ""),
                        attribute("aria-sort", column.sorted), escape_html(column.name));
  }
  out_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::row(const std::vector<HtmlCell>& cells) {
  out_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t spans = i + 1 == cells.size() ? columns_.size() - i : 1;
    const bool words = columns_[i].words || spans > 1;
    out_ += fmt::format("<td{}{}{}{}>{}</td>", attribute("class", words ? "words" : ""),
                        attribute("colspan", spans > 1 ? fmt::to_string(spans) : ""),
                        attribute("data-v", cells[i].by), attribute("title", cells[i].title),
                        cells[i].html);
  }
  out_ += "</tr>\n";
}

std::string HtmlTable::take() { return std::move(out_) + "</tbody></table></div>\n"; }

}  // namespace amdahl
