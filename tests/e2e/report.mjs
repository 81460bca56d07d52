// Opens a report in a real Chromium, clicks the first heading of its table as a reader would, and
// prints the rows before and after as JSON. node report.mjs WEB PAGE.html, where WEB is the folder
// whose node_modules has playwright-core.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [, , web, file] = process.argv;
const { chromium } = createRequire(web + '/package.json')('playwright-core');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
const page = await browser.newPage();
const seen = { errors: [] };
// What the policy refuses is an error on the console.
page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()));
page.on('pageerror', (error) => seen.errors.push(error.message));
page.on('request', (request) => request.url().startsWith('file:') || seen.errors.push('loads ' + request.url()));
await page.goto('file://' + resolve(file));
const names = () => page.$$eval('#rows tbody tr', (all) => all.map((row) => row.cells[0].dataset.v ?? row.cells[0].textContent));
seen.before = await names();
// A preview that runs no scripts shows the same text.
const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
await plain.goto('file://' + resolve(file));
seen.same_without_scripts = (await plain.innerText('body')) === (await page.innerText('body'));
await page.click('#rows th');
seen.after = await names();
seen.drawn = (await page.$$('polyline.curve, rect.idle')).length;
// And a script from elsewhere does not run.
await page.evaluate(() => {
  const script = document.createElement('script');
  script.textContent = 'window.hacked = 1';
  document.body.append(script);
});
seen.hacked = await page.evaluate(() => window.hacked ?? 0);
await browser.close();
console.log(JSON.stringify(seen));
