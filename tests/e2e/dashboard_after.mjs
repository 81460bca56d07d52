// Walks through the pages once a change is promoted and later jobs have run, and prints their figures and the
// numbers that no verb prints as JSON. node dashboard_after.mjs PLAN.json: as dashboard.mjs.
import { readFileSync } from 'node:fs';

import { openBrowser } from './dashboard_browser.mjs';
import { allowedNumbers, unknownNumbers } from './dashboard_numbers.mjs';

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const seen = { errors: [], figures: {}, unknown: {} };
const allowed = allowedNumbers(plan.documents, plan.days, plan.derived);
const { browser, enter, go, figuresOf } = await openBrowser(plan, seen.errors);
const reader = await enter('reader', plan.reader);
const pages = { home: '/', fleet: '/fleet', experiment: `/experiments/${plan.hypothesis}`, gate: '/gate', claim: `/gate/${plan.hypothesis}`, ledger: '/ledger', money: '/money' };
for (const [name, path] of Object.entries(pages)) {
  await go(reader, path);
  for (const [figure, shown] of await figuresOf(reader)) seen.figures[`${name} ${figure}`] = shown;
  const unknown = unknownNumbers(await reader.innerText('main'), allowed);
  if (unknown.length > 0) seen.unknown[name] = unknown;
  for (const colorScheme of ['light', 'dark']) {
    await reader.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await reader.screenshot({ path: `${plan.pictures}/after-${name}-${colorScheme}.png`, fullPage: true });
  }
}
await browser.close();
console.log(JSON.stringify(seen));
