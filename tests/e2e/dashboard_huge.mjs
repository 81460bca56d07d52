// Opens the pages of an empty and of a huge ledger in turn in a real Chromium, pages through a huge fleet, and prints
// what each took as JSON. node dashboard_huge.mjs PLAN.json: {web, chromium, pictures, rounds, hypothesis, empty, huge};
// `empty` and `huge` are {url, token}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { chromium } = createRequire(plan.web + '/package.json')('playwright-core');
const seen = { errors: [], pages: {}, steps: {}, drawn: {}, ages: [], bytes: {} };
const browser = await chromium.launch({ executablePath: plan.chromium, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });

async function enter({ url, token }) {
  const page = await (await browser.newContext({ viewport: { width: 1300, height: 900 } })).newPage();
  page.setDefaultTimeout(300000);
  page.on('pageerror', (error) => seen.errors.push(error.message));
  await page.goto(url);
  await page.fill('input[type=password]', token);
  await page.click('button.main');
  await page.waitForSelector('nav a');
  return { page, url };
}
const settled = (page) => page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.wait'));
async function open({ page, url }, path) {
  const began = performance.now();
  await page.goto(url + path.slice(1));
  await settled(page);
  return performance.now() - began;
}
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];

const small = await enter(plan.empty);
const large = await enter(plan.huge);
const began = performance.now();
await open(large, '/fleet');
seen.first_scan_ms = performance.now() - began;
await open(small, '/fleet');
for (const [name, path] of Object.entries({ home: '/', fleet: '/fleet', experiments: '/experiments', gate: '/gate', ledger: '/ledger', money: '/money' })) {
  const times = { empty: [], huge: [] };
  for (let i = 0; i < plan.rounds; i += 1) {
    times.empty.push(await open(small, path));
    times.huge.push(await open(large, path));
  }
  seen.pages[name] = Object.fromEntries(Object.entries(times).map(([which, ms]) => [which, { p50: quantile(ms, 0.5), p95: quantile(ms, 0.95) }]));
  for (const colorScheme of ['light', 'dark']) {
    for (const [which, { page }] of Object.entries({ empty: small, huge: large })) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${plan.pictures}/${which}-${name}-${colorScheme}.png`, fullPage: true });
    }
  }
}
await open(large, '/fleet');
seen.drawn.actions = await large.page.locator('[data-action]').count();
await open(large, '/experiments/' + plan.hypothesis);
seen.drawn.experiment = await large.page.textContent('h1');
await open(large, '/ledger');
seen.drawn.ledger = { rows: await large.page.locator('tr[data-hypothesis]').count(), total: await large.page.getAttribute('[data-total]', 'data-total') };
await open(large, '/gate');
seen.drawn.gate = await large.page.locator('tr[data-gate]').count();

// Through the jobs: each step asks the server for one page and draws it.
const rowsNow = () => large.page.$$eval('tr[data-row]', (all) => all.map((one) => one.dataset.row));
async function step(name, act, want) {
  const before = performance.now();
  const answer = large.page.waitForResponse((response) => response.url().includes('/api/v1/fleet/rows'));
  await act();
  const got = await answer;
  const document_ = await got.json();
  const drawn = document_.rows.map((row) => row.name);
  await large.page.waitForFunction((names) => JSON.stringify([...document.querySelectorAll('tr[data-row]')].map((one) => one.dataset.row)) === JSON.stringify(names), drawn);
  seen.steps[name] = { ms: performance.now() - before, count: document_.count, rows: drawn.length, bytes: (await got.body()).length };
  seen.ages.push(document_.age_s);
  if (want) want(document_);
  return drawn;
}
await step('jobs', () => large.page.goto(large.url + 'fleet?by=job'));
const first = await rowsNow();
const pages = [...first];
for (let i = 0; i < 4; i += 1) pages.push(...(await step(`next ${i}`, () => large.page.click('button:text("Next")'))));
seen.distinct = new Set(pages).size;
await step('deep', () => large.page.goto(large.url + `fleet?by=job&skip=${Math.floor((seen.steps.jobs.count * 9) / 10)}`));
await step('order', () => large.page.selectOption('label:has-text("Order") select', 'queue'));
await large.page.fill('input[type=search]', first[0]);
seen.searched = await step('search', () => large.page.keyboard.press('Enter'));
seen.first = first[0];
const clicked = performance.now();
await large.page.click(`tr[data-row="${first[0]}"] a`);
await large.page.waitForSelector('canvas');
seen.job_ms = performance.now() - clicked;
await large.page.screenshot({ path: `${plan.pictures}/huge-job.png`, fullPage: true });
await browser.close();
console.log(JSON.stringify(seen));
