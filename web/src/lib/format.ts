// The one place where numbers become text. Unknown is never 0.

export type Number_ = number | string | null | undefined;

// JSON has no infinities: the server writes them as text.
export function toNumber(value: Number_): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return value;
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

const kUnknown = 'unknown';

// Made once: a table asks hundreds of times. By the number of digits after the point.
const kFormats = [0, 1, 2, 3].map((digits) => new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }));
const written = (n: number, digits: number) => (kFormats[digits] as Intl.NumberFormat).format(n);

// Three significant digits, never an exponent.
export function number(value: Number_): string {
  const n = toNumber(value);
  if (n === null) return kUnknown;
  if (!Number.isFinite(n)) return n > 0 ? 'no limit' : 'no limit below';
  const size = Math.abs(n);
  if (size !== 0 && size < 0.001) return n < 0 ? '>\u00a0−0.001' : '<\u00a00.001';
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return written(n, digits).replace('-', '−');
}

export function count(value: Number_): string {
  const n = toNumber(value);
  return n === null ? kUnknown : written(n, 0);
}

// "1 job", "2 jobs".
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// Time of accelerators: in hours, or in minutes or seconds where it is too little for hours.
export function hours(time: Number_): string {
  const n = toNumber(time);
  if (n === null) return kUnknown;
  const size = Math.abs(n);
  if (size === 0 || size >= 360) return `${number(n / 3600)} h`;
  return size >= 60 ? `${number(n / 60)} min` : `${n < 0 ? '−' : ''}${seconds(size)}`;
}

export function days(value: Number_): string {
  const n = toNumber(value);
  if (n === null || n >= 1) return `${number(n)} days`;
  return n * 24 >= 1 ? `${number(n * 24)} h` : `${number(n * 1440)} min`;
}

export function usd(value: Number_): string {
  const n = toNumber(value);
  if (n === null) return kUnknown;
  const digits = Math.abs(n) >= 1000 ? 0 : 2;
  const sign = n < 0 ? '−' : '';
  // Below a cent: two significant digits.
  const size = Math.abs(n);
  if (size !== 0 && size < 1e-6) return '<\u00a0$0.000001';
  if (size !== 0 && size < 0.01) return `${sign}$${size.toFixed(1 + Math.ceil(-Math.log10(size)))}`;
  return `${sign}$${written(Math.abs(n), digits)}`;
}

export function percent(share: Number_): string {
  const n = toNumber(share);
  if (n === null) return kUnknown;
  if (!Number.isFinite(n)) return 'no limit';
  const value = n * 100;
  const digits = Math.abs(value) >= 10 ? 0 : 1;
  return `${value.toFixed(digits).replace('-', '−')} %`;
}

// An effect is a natural logarithm; people read the share that is saved.
export function savedShare(effect: Number_): number | null {
  const n = toNumber(effect);
  return n === null ? null : 1 - Math.exp(-n);
}

export function saving(effect: Number_): string {
  return percent(savedShare(effect));
}

export interface Comparison {
  answer: string;
  pairs: number;
  voided: number;
  effect: Number_;
  lower: Number_;
  upper: Number_;
  shrunk: Number_;
  log_e_win: Number_;
  because: string;
}

const bare = (share: number | null) => percent(share).replace(' %', '');

// Never a bare percentage: with its interval and its pairs, or "cannot tell".
export function describe(c: Comparison | null | undefined): string {
  if (!c || c.pairs === 0) return 'no pairs yet';
  const lower = toNumber(c.lower) ?? -Infinity;
  const upper = toNumber(c.upper) ?? Infinity;
  const pairs = `${c.pairs} pair${c.pairs === 1 ? '' : 's'}`;
  if (Number.isFinite(lower) && Number.isFinite(upper)) {
    const [least, share, most] = [savedShare(lower) ?? 0, savedShare(c.effect) ?? 0, savedShare(upper) ?? 0];
    if (most < 0) return `costs ${percent(-share)} more (${bare(-most)} to ${percent(-least)} at 95 %, ${pairs})`;
    return `saves ${percent(share)} (${bare(least)} to ${percent(most)} at 95 %, ${pairs})`;
  }
  if (Number.isFinite(lower)) return `saves at least ${saving(lower)} (at 95 %, ${pairs})`;
  if (Number.isFinite(upper)) return `saves at most ${saving(upper)} (at 95 %, ${pairs})`;
  return `cannot tell (${pairs} give no bound)`;
}

export function seconds(value: Number_): string {
  const n = toNumber(value);
  if (n === null) return kUnknown;
  if (n === 0) return '0 s';
  if (n < 0.001) return `${(n * 1e6).toFixed(0)} µs`;
  if (n < 1) return `${(n * 1e3).toFixed(n < 0.01 ? 1 : 0)} ms`;
  if (n < 60) return `${n.toFixed(n < 10 ? 2 : 1)} s`;
  if (n < 3600) return `${Math.floor(n / 60)} min ${Math.round(n % 60)} s`;
  return `${Math.floor(n / 3600)} h ${String(Math.round((n % 3600) / 60)).padStart(2, '0')} min`;
}

// UTC, as everywhere in Amdahl.
export function time(ns: Number_): string {
  const n = toNumber(ns);
  if (!n) return kUnknown;
  return new Date(n / 1e6).toISOString().slice(0, 16).replace('T', ' ');
}
