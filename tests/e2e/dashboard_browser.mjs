// A Chromium that logs in to the dashboard, and what tests read from its pages.
import { createRequire } from 'node:module';

// `plan`: {url, web, chromium}; whatever goes wrong on a page is added to `errors`.
export async function openBrowser(plan, errors) {
  const { chromium } = createRequire(plan.web + '/package.json')('playwright-core');
  const browser = await chromium.launch({
    executablePath: plan.chromium,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });

  // Whoever throws, loads from elsewhere or is refused by the policy is an error of the page.
  function watch(page, who) {
    page.on('pageerror', (error) => errors.push(`${who}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of (4|503)/.test(message.text())) errors.push(`${who}: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(plan.url) && !request.url().startsWith('data:')) errors.push(`${who}: loads ${request.url()}`);
    });
  }

  async function enter(name, token, size = { width: 1280, height: 900 }) {
    const context = await browser.newContext({ viewport: size });
    const page = await context.newPage();
    page.setDefaultTimeout(30000);
    watch(page, name);
    await page.goto(plan.url);
    await page.fill('input[type=password]', token);
    await page.click('button.main');
    await page.waitForSelector('nav a');
    return page;
  }

  const go = async (page, path) => {
    await page.goto(plan.url + path.slice(1));
    await page.waitForSelector('h1');
    await page.waitForFunction(() => !document.querySelector('.wait'));
  };
  const text = (page, selector) => page.textContent(selector).then((t) => t.trim().replace(/\s+/g, ' '));
  const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.trim().replace(/\s+/g, ' ')));
  const figuresOf = (page) => page.$$eval('[data-figure]', (all) => all.map((one) => [one.dataset.figure, one.textContent.trim().replace(/\s+/g, ' ')]));
  return { browser, enter, go, text, texts, figuresOf };
}
