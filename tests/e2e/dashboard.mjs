// Walks through the dashboard in a real Chromium as three people, and prints what it saw as JSON.
// node dashboard.mjs PLAN.json: {url, web, chromium, amdahl, pictures, reader, approver, hypothesis,
// family, job}. `web` is the folder whose node_modules has playwright-core and axe-core.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { openBrowser } from './dashboard_browser.mjs';
import { allowedNumbers, unknownNumbers } from './dashboard_numbers.mjs';

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const axe = readFileSync(createRequire(plan.web + '/package.json').resolve('axe-core/axe.min.js'), 'utf8');

const seen = { errors: [], serious: {}, figures: {}, overflow: {}, titles: {}, unknown: {} };
const allowed = allowedNumbers(plan.documents, plan.days, plan.derived);
const { browser, enter, go, text, texts, figuresOf } = await openBrowser(plan, seen.errors);

const pages = {
  home: '/', fleet: '/fleet', week: '/fleet?window=7d', jobs: '/fleet?by=job', job: `/jobs/${plan.job}`, experiments: '/experiments',
  experiment: `/experiments/${plan.hypothesis}`, gate: '/gate', claim: `/gate/${plan.hypothesis}`,
  ledger: '/ledger', money: '/money', own: `/fleet/user/${plan.user}`, traces: '/traces', trace: '/traces/ranks',
  ...(plan.diff ? { diff: '/traces/diff' } : {}),
};

// A reader: every page in both themes and at three widths, with a look for what keeps people out.
const reader = await enter('reader', plan.reader);
for (const [name, path] of Object.entries(pages)) {
  await go(reader, path);
  seen.titles[name] = await reader.title();
  await reader.evaluate(axe);
  seen.serious[name] = [];
  for (const colorScheme of ['dark', 'light']) {
    await reader.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await reader.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    for (const v of found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')) {
      seen.serious[name].push(`${colorScheme}: ${v.id}: ${v.nodes.length} × ${v.nodes[0].target} ${v.nodes[0].any.map((a) => a.message).join(' ')}`);
    }
  }
  for (const [width, scheme] of [[1300, 'light'], [1300, 'dark'], [1920, 'light'], [1920, 'dark'], [820, 'light'], [390, 'light'], [390, 'dark']]) {
    await reader.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await reader.setViewportSize({ width, height: 900 });
    const wide = await reader.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) seen.overflow[`${name} ${width}`] = wide;
    const picture = { path: `${plan.pictures}/${name}-${width}-${scheme}.png`, fullPage: true };
    if (plan.all_pictures || scheme === (width === 1300 ? 'dark' : 'light')) await reader.screenshot(picture);
  }
  await reader.emulateMedia({ colorScheme: 'light' });
  await reader.setViewportSize({ width: 1300, height: 900 });
  const unknown = unknownNumbers(await reader.innerText('main'), allowed);
  if (unknown.length > 0) seen.unknown[name] = unknown;
  for (const [figure, shown] of await figuresOf(reader)) seen.figures[`${name} ${figure}`] = shown;
}
await go(reader, '/experiments/' + plan.hypothesis);
seen.pairs_drawn = (await reader.$$('svg g title')).length;
seen.checks = await reader.$$eval('[data-check]', (all) => all.map((one) => one.dataset.check));
seen.measured = (await texts(reader, '[data-saves]'))[0];
// What is behind a loss: the causes of its class come first and are marked.
await go(reader, `/jobs/${plan.job}`);
await reader.click(`[data-part="${plan.part}"]`);
await reader.waitForSelector('[data-part][aria-pressed=true]');
seen.behind = await reader.$$eval('[data-cause].behind', (all) => all.map((one) => one.dataset.cause));
seen.behind_none = await reader.locator('[data-behind=none]').count();
await go(reader, '/fleet');
seen.actions = await reader.$$eval('[data-action]', (all) => all.map((one) => one.dataset.action));
await reader.selectOption('label.window select', '7d');
await reader.waitForFunction(() => location.search === '?window=7d' && !document.querySelector('.wait'));
seen.week_rows = await reader.$$eval('tr[data-row]', (all) => all.map((one) => one.dataset.row));
await go(reader, '/ledger');
seen.ledger_total = await reader.getAttribute('[data-total]', 'data-total');
seen.ledger_rows = await reader.$$eval('tr[data-hypothesis]', (all) => all.map((one) => one.dataset.hypothesis));
seen.lessons = await reader.locator('[data-lesson]').count();
await go(reader, '/gate/' + plan.hypothesis);
seen.reader_may_not = await text(reader, '[data-may-not]');
seen.reader_buttons = (await texts(reader, 'main button')).length;
// What a page could not look at says so.
await go(reader, '/jobs/nosuchjob');
seen.no_job = await text(reader, '[data-trouble]');
// So does every view when the server has no answer for it.
const refused = (route) => (/session|events/.test(route.request().url()) ? route.continue() : route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail": "the disk is gone"}' }));
await reader.route('**/api/v1/**', refused);
seen.told = {};
for (const [name, path] of Object.entries(pages)) {
  await go(reader, path);
  seen.told[name] = (await texts(reader, 'main [data-trouble]')).filter((one) => /^Could not look at .*, because the disk is gone$/.test(one)).length;
}
await reader.unroute('**/api/v1/**', refused);
// A hostile text in the place of every text that the server can send: names, diffs, reasons, what agents said.
const hostile = '<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"\'><b>';
const poisoned = (value) => {
  if (Array.isArray(value)) return value.map(poisoned);
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === 'stage' ? one : poisoned(one)]));
  return typeof value === 'string' ? value + hostile : value;
};
const poison = async (route) => {
  if (/session|events/.test(route.request().url())) return route.continue();
  const response = await route.fetch();
  if (!/json/.test(response.headers()['content-type'] ?? '')) return route.fulfill({ response });
  return route.fulfill({ response, json: poisoned(await response.json()) });
};
await reader.route('**/api/v1/**', poison);
seen.hostile = {};
for (const [name, path] of Object.entries(pages)) {
  await go(reader, path);
  for (const closed of await reader.$$('details:not([open]) > summary, main button[aria-expanded=false]')) await closed.click();
  seen.hostile[name] = await reader.evaluate((text) => ({
    ran: Boolean(window.hacked),
    elements: document.querySelectorAll('main img, main script, main b').length,
    shown: document.body.textContent.split(text).length - 1,
  }), hostile);
}
await reader.unroute('**/api/v1/**', poison);
await go(reader, '/nosuchpage');
seen.no_page = await text(reader, 'h1');
seen.refused = await reader.evaluate(async (id) => {
  const session = await (await fetch('/api/v1/session')).json();
  const answer = await fetch(`/api/v1/gate/${id}/approve`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf },
    body: JSON.stringify({ reason: 'x', packet: 'y' }),
  });
  return answer.status;
}, plan.hypothesis);

// By keys alone: from the top of the page to the gate.
await go(reader, '/');
for (let i = 0; i < 20; i += 1) {
  await reader.keyboard.press('Tab');
  if ((await reader.evaluate(() => document.activeElement?.getAttribute('href'))) === '/gate') break;
}
await reader.keyboard.press('Enter');
await reader.waitForFunction(() => location.pathname === '/gate');
seen.by_keys = await text(reader, 'h1');

// An open page follows the ledger.
await go(reader, '/ledger');
await reader.waitForSelector('.live.on');
execFileSync(plan.amdahl, ['propose', plan.family, '--env', 'COLOUR=blue', '--gain', '20', '--title', 'a new idea'], { stdio: 'pipe' });
await reader.waitForFunction(() => document.body.textContent.includes('a new idea'), undefined, { timeout: 20000 });
seen.live = true;

// An approver decides; whoever still looks at the claim sees it.
await go(reader, '/gate/' + plan.hypothesis);
const approver = await enter('approver', plan.approver);
await go(approver, '/gate/' + plan.hypothesis);
seen.before = await text(approver, '[data-state]');
await approver.fill('textarea', plan.reason);
await approver.click('main button.main');
await approver.waitForSelector('[data-said], [data-refused]');
seen.said = await text(approver, '[data-said], [data-refused]');
await approver.waitForFunction(() => document.querySelector('[data-state]')?.textContent === 'approved');
seen.reason = await text(approver, '[data-reason]');
await reader.waitForFunction(() => document.querySelector('[data-state]')?.textContent === 'approved');
seen.reader_sees = await text(reader, '[data-state]');
await approver.screenshot({ path: `${plan.pictures}/decided.png` });
for (const page of [reader, approver]) {
  for (const path of ['/', '/ledger', '/gate', '/experiments']) {
    await go(page, path);
    if (await page.evaluate(() => window.hacked || document.querySelector('main img, main script'))) seen.errors.push('a hostile string ran: ' + path);
  }
}
await approver.click('text=Log out');
await approver.waitForSelector('input[type=password]');
seen.logged_out = await approver.evaluate(async () => (await fetch('/api/v1/status')).status);
await browser.close();
console.log(JSON.stringify(seen));
