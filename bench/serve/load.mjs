// Loads one `amdahl serve`: followers of the event stream and requests at a fixed rate, at once.
//   node bench/serve/load.mjs AMDAHL STATE [--followers 200] [--rate 200] [--seconds 20] [--events 5]
// STATE has a ledger with at least one family. Prints one JSON object: latency of each page, events
// that each follower got, memory before and after. Exits with 1 if an event was dropped or doubled,
// a request failed, fewer than nine in ten of the requests a second were held, or memory grew. With --pages it only asks for each page many times, without followers:
// what a page takes on this ledger.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';

const kMostMb = 50; // What buffers of so many clients may add.
const [program, state, ...rest] = process.argv.slice(2);
const option = (name, fallback) => (rest.includes(name) ? Number(rest[rest.indexOf(name) + 1]) : fallback);
const [followers, rate, seconds, events] = [option('--followers', 200), option('--rate', 200), option('--seconds', 20), option('--events', 5)];
const run = (...words) => execFileSync(program, ['--state', state, ...words], { encoding: 'utf8' });
const token = run('serve', 'token', 'add', 'load', '--role', 'reader').trim();
const server = spawn(program, ['--state', state, 'serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise((resolve) => {
  let text = '';
  server.stdout.on('data', (bytes) => {
    text += bytes;
    const found = /Listening on (\S+)/.exec(text);
    if (found) resolve(new URL(found[1]));
  });
});
const headers = { Authorization: `Bearer ${token}` };
const memoryMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

function ask(path) {
  return new Promise((resolve) => {
    const began = performance.now();
    http.get({ host: url.hostname, port: url.port, path, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve({ path, status: response.statusCode, ms: performance.now() - began }));
    }).on('error', () => resolve({ path, status: 0, ms: performance.now() - began }));
  });
}

function follow(after) {
  const got = new Map();
  const ready = new Promise((resolve) => {
    http.get({ host: url.hostname, port: url.port, path: `/api/v1/events?after=${after}`, headers, agent: false }, (response) => {
      resolve();
      let text = '';
      response.on('data', (bytes) => {
        text += bytes;
        const lines = text.split('\n');
        text = lines.pop();
        for (const line of lines) if (line.startsWith('id: ')) got.set(line, (got.get(line) ?? 0) + 1);
      });
    });
  });
  return { got, ready };
}

const quantile = (values, q) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? Number(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))].toFixed(2)) : null;
};
const pages = ['/api/v1/status', '/api/v1/hypotheses?limit=50', '/api/v1/hypotheses?state=refuted', '/api/v1/log?limit=25', '/api/v1/gate', '/api/v1/roi', '/metrics'];
const summary = (done) => Object.fromEntries(pages.map((page) => {
  const ms = done.filter((d) => d.path === page).map((d) => d.ms);
  return [page, { requests: ms.length, p50_ms: quantile(ms, 0.5), p95_ms: quantile(ms, 0.95) }];
}));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const report = {};
let bad = false;
if (rest.includes('--pages')) {
  const done = [];
  for (let i = 0; i < 60; i += 1) for (const page of pages) done.push(await ask(page));
  const kept = done.slice(pages.length * 5);
  bad = kept.some((d) => d.status !== 200);
  Object.assign(report, { pages: summary(kept), all_p95_ms: quantile(kept.map((d) => d.ms), 0.95) });
} else {
  const last = JSON.parse(run('ledger', 'log', '--limit', '1', '--json')).events[0].seq;
  const clients = Array.from({ length: followers }, () => follow(last));
  await Promise.all(clients.map((client) => client.ready));
  const before = memoryMb();
  const asked = [];
  const began = performance.now();
  const family = JSON.parse(run('status', '--json')).families[0].family;
  let written = 0;
  for (let i = 0; performance.now() - began < seconds * 1000; i += 1) {
    asked.push(ask(pages[i % pages.length]));
    if (written < events && i % Math.floor((rate * seconds) / (events + 1)) === 1) {
      written += 1;
      spawn(program, ['--state', state, 'propose', family, '--env', `LOAD=${process.pid}-${written}`, '--gain', '20'], { stdio: 'ignore' });
    }
    const late = began + ((i + 1) * 1000) / rate - performance.now();
    if (late > 0) await pause(late);
  }
  const done = await Promise.all(asked);
  const took = (performance.now() - began) / 1000;
  for (let i = 0; i < 100 && clients.some((c) => c.got.size < written); i += 1) await pause(100);
  const failed = done.filter((d) => d.status !== 200);
  const wrong = clients.filter((c) => c.got.size < written || [...c.got.values()].some((times) => times !== 1));
  const after = memoryMb();
  bad = failed.length > 0 || wrong.length > 0 || written < events || done.length / took < 0.9 * rate || after > before + kMostMb;
  Object.assign(report, {
    followers, events: written, followers_with_gaps_or_doubles: wrong.length, requests: done.length,
    requests_a_second: Number((done.length / took).toFixed(1)), failed: failed.length,
    p50_ms: quantile(done.map((d) => d.ms), 0.5), p95_ms: quantile(done.map((d) => d.ms), 0.95),
    memory_mb_before: Math.round(before), memory_mb_after: Math.round(after),
  });
}
console.log(JSON.stringify(report, null, 1));
server.kill('SIGTERM');
process.exit(bad ? 1 : 0);
