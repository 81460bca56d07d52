// Which numbers a page may show: those of the documents that the verbs print with --json, written as
// web/src/lib/format.ts writes them (done anew here), and those inside their texts.

const digitsOf = (size) => (size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
const plain = (text) => text.replace(/[,$\s]/g, '').replace(/^[−-]/, '');

// Every way in which a page may write this value.
function* forms(n) {
  const size = Math.abs(n);
  yield size.toFixed(digitsOf(size));
  yield (size / 60).toFixed(digitsOf(size / 60)); // Minutes.
  if (size > 0 && size < 0.01) yield size.toFixed(1 + Math.ceil(-Math.log10(size))); // Dollars below a cent.
  yield size.toFixed(0);
  yield size.toFixed(2);
  yield String(size);
  for (const share of [size, Math.abs(1 - Math.exp(-n))]) {
    yield (share * 100).toFixed(share * 100 >= 10 ? 0 : 1);
  }
  // A duration.
  if (size < 0.001) yield (size * 1e6).toFixed(0);
  else if (size < 1) yield (size * 1e3).toFixed(size < 0.01 ? 1 : 0);
  else if (size < 60) yield size.toFixed(size < 10 ? 2 : 1);
  yield String(Math.floor(size / 60));
  yield String(Math.round(size % 60));
  yield String(Math.floor(size / 3600));
  yield String(Math.round((size % 3600) / 60)).padStart(2, '0');
}

const kNumber = /\d[\d,]*(\.\d+)?/g;

function add(value, allowed, days) {
  if (Array.isArray(value)) {
    allowed.add(String(value.length)); // "12 pairs": a count of what is listed.
    for (const one of value) add(one, allowed, days);
  } else if (value && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) {
      add(key, allowed, days);
      add(one, allowed, days);
    }
  } else if (typeof value === 'string') {
    for (const found of value.matchAll(kNumber)) allowed.add(plain(found[0]));
  } else if (typeof value === 'number') {
    for (const scale of [1, 3600, 1 / 3600, 1e-9, 1 / 3600 / days, 24 / days]) for (const form of forms(value * scale)) allowed.add(plain(form));
    // A time: nanoseconds or seconds of the clock.
    for (const ms of [value / 1e6, value * 1e3]) {
      if (ms > 1e12 && ms < 1e13) for (const found of new Date(ms).toISOString().slice(0, 16).matchAll(kNumber)) allowed.add(found[0]);
    }
  }
}

// `derived`: what a page works out of its documents, each with its name.
export function allowedNumbers(documents, days, derived) {
  const allowed = new Set(['95', '0', '1', '1.00']);
  for (const document of documents) add(document, allowed, days);
  for (const value of Object.values(derived)) for (const form of forms(value)) allowed.add(plain(form));
  return allowed;
}

export function unknownNumbers(text, allowed) {
  const unknown = [];
  for (const found of text.matchAll(kNumber)) {
    const number = plain(found[0]);
    if (!allowed.has(number)) unknown.push(`${number} in “${text.slice(Math.max(0, found.index - 25), found.index + 25).replace(/\s+/g, ' ')}”`);
  }
  return unknown;
}
